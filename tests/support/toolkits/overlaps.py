"""Ask both toolkits for overlaps: ``overlaps.py FILE``.

FILE is JSON with questions by name, each with boxes, truth and the bounds of the image; the answers take its place.
"""

import json
import sys
from pathlib import Path

import numpy as np
from got10k.utils.metrics import center_error, rect_iou
from vot.region import Rectangle, calculate_overlaps


def answer(question):
    boxes, truth = (np.array(question[name], float) for name in ("boxes", "truth"))
    bounds = tuple(question["bounds"])
    rectangles = [Rectangle(*row) for row in boxes], [Rectangle(*row) for row in truth]
    return {
        "got10k": rect_iou(boxes, truth).tolist(),
        "got10k_distance": center_error(boxes, truth).tolist(),
        "vot": calculate_overlaps(*rectangles),
        "vot_bounded": calculate_overlaps(*rectangles, bounds=bounds),
        "got10k_bounded": rect_iou(boxes, truth, bound=bounds).tolist(),  # from here on boxes and truth are changed
        "got10k_truth_after": truth.tolist(),
    }


file = Path(sys.argv[1])
file.write_text(json.dumps({name: answer(question) for name, question in json.loads(file.read_text()).items()}))
