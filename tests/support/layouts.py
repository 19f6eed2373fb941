"""Small datasets in every layout that is understood, written to be read back."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from metrack.evaluation.layouts import read_folder
from metrack.frames import VideoWriter

NAN = [np.nan] * 4


def picture(shade=0):
    file = BytesIO()
    Image.fromarray(np.full((16, 24, 3), shade, np.uint8)).save(file, "png")
    return file.getvalue()


def put(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def put_images(folder, count, digits=4):
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, count + 1):
        (folder / f"{number:0{digits}d}.png").write_bytes(picture(number % 256))


def lines(rows):
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def flags(values):
    return "".join(f"{int(value)}\n" for value in values)


def one_based(boxes, absent):
    return lines([absent if box is None else (box[0] + 1, box[1] + 1, *box[2:]) for box in boxes])


def write_otb(root, boxes):
    put_images(root / "Toy" / "img", len(boxes))
    put(root / "Toy" / "groundtruth_rect.txt", one_based(boxes, (0, 0, 0, 0)))


def write_lasot(root, boxes):
    place = root / "toy" / "Toy"
    put_images(place / "img", len(boxes), digits=8)
    put(place / "groundtruth.txt", one_based(boxes, (1, 1, 9, 9)))
    put(place / "out_of_view.txt", ",".join("01"[box is None] for box in boxes))
    put(place / "full_occlusion.txt", ",".join("0" * len(boxes)))


def write_got10k(root, boxes):
    place = root / "val" / "Toy"
    put_images(place, len(boxes), digits=8)
    put(root / "val" / "list.txt", "Toy\n")
    put(place / "groundtruth.txt", one_based(boxes, (5, 5, 9, 9)))
    put(place / "absence.label", flags(box is None for box in boxes))


def write_vot(root, boxes):
    put_images(root / "Toy" / "color", len(boxes), digits=8)
    put(root / "Toy" / "groundtruth.txt", lines([("nan",) * 4 if box is None else box for box in boxes]))


def write_vot_polygons(root, boxes):
    rows = [("nan",) * 8 if b is None else (b[0], b[1], b[0] + b[2], b[1], b[0] + b[2], b[1] + b[3], b[0], b[1] + b[3])
            for b in boxes]  # fmt: skip
    put_images(root / "Toy", len(boxes), digits=8)
    put(root / "Toy" / "groundtruth.txt", lines(rows))


def write_uav123(root, boxes):
    put_images(root / "data_seq" / "UAV123" / "Toy", len(boxes), digits=6)
    put(root / "anno" / "UAV123" / "Toy.txt", one_based(boxes, ("NaN",) * 4))


def write_tld(root, boxes):
    corners = [("NaN",) * 4 if b is None else (b[0] + 1, b[1] + 1, b[0] + b[2], b[1] + b[3]) for b in boxes]
    put_images(root / "Toy", len(boxes), digits=5)
    put(root / "Toy" / "gt.txt", lines(corners))
    put(root / "Toy" / "init.txt", lines(corners[:1]))


def write_mot(root, boxes):
    rows = [(i, 7, b[0] + 1, b[1] + 1, *b[2:], 1, 1, 0.9) for i, b in enumerate(boxes, 1) if b is not None]
    put_images(root / "Toy" / "img1", len(boxes), digits=6)
    put(root / "Toy" / "gt" / "gt.txt", lines(rows))


def write_video(root, boxes):
    root.mkdir(parents=True, exist_ok=True)
    with VideoWriter(root / "Toy.mp4", (32, 32), 25.0) as writer:
        for shade in range(len(boxes)):
            writer.write(np.full((32, 32, 3), 10 * shade, np.uint8))
    put(root / "Toy.txt", one_based(boxes, ("nan",) * 4))


WRITERS = {
    "otb": write_otb,
    "lasot": write_lasot,
    "got10k": write_got10k,
    "vot": write_vot,
    "uav123": write_uav123,
    "tld": write_tld,
    "mot": write_mot,
    "video": write_video,
}
SEEN = (3, 4, 10, 5)
BOXES = [SEEN, (4, 4, 10, 5), None, (5.5, 3.25, 11, 6)]
TRUTH = [SEEN, (4, 4, 10, 5), NAN, (5.5, 3.25, 11, 6)]


def only(folder, layout=None):
    (sequence,) = read_folder(folder, layout)
    return sequence


def complaint(folder, layout=None):
    with pytest.raises(ValueError) as caught:
        read_folder(folder, layout)
    assert "\n" not in str(caught.value)
    return str(caught.value)
