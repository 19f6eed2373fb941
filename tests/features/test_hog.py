import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.box import Box
from metrack.config import FeatureConfig
from metrack.features import extractor as extracting
from metrack.features import hog
from metrack.features.extractor import Extractor
from metrack.features.window import LARGEST_SIDE, Window, cut_window
from reference import hog as reference

# Distance from the exact descriptor in parts of its length. A cell is a difference of sums over up to the
# whole window, in single precision, so what rounding leaves of it goes with window area / cell area; the
# polynomial for the arc tangent is the rest. Measured, box of 48 pixels in windows of side 60, 300 and 1024:
# 2e-5, 1.5e-4, 1.5e-3.
ARC_TANGENT = 6e-5  # 1e-5 radians are 3e-5 orientations, lost by one and won by the next
ROUNDINGS = 2  # of single precision, in a sum over the window

DIVISIONS = tuple(hog.DIVISIONS)
ENERGY = 0.6
FLAT = math.sqrt(ENERGY / 405)  # every entry of the descriptor of nothing


def describe(grey, boxes, divisions="quadrants", energy=ENERGY):
    """Descriptors of boxes given in window coordinates."""
    window = Window(np.asarray(grey, np.float32), 0.0, 0.0, 1.0)
    integral = hog.integral_histogram(window.grey)
    return hog.describe(window, integral, np.asarray(boxes, float), hog.cell_grid(divisions), energy)


def slow(grey, boxes, divisions="quadrants", energy=ENERGY):
    blocks = hog.DIVISIONS[divisions]
    return np.array([reference.describe(grey, box, blocks, energy, hog.NOISE_LEVEL) for box in boxes])


def textured(seed, side=60):
    """Noise of all sizes, as in pictures: smooth hills under grain."""
    rng = np.random.default_rng(seed)
    coarse = np.kron(rng.uniform(0, 150, size=(side // 10 + 1,) * 2), np.ones((10, 10)))[:side, :side]
    return (coarse + rng.uniform(0, 105, size=(side, side))).astype(np.float32)


def distances(actual, expected, energy=ENERGY):
    return np.linalg.norm(actual - expected, axis=1) / math.sqrt(energy)


def error_bound(side, box):
    smallest_cell = (box[2] / 6) * (box[3] / 6)  # in no division are blocks smaller than half of the box
    return ARC_TANGENT + ROUNDINGS * float(np.finfo(np.float32).eps) * side**2 / smallest_cell


def in_cells(descriptors):
    """(N, block, row, column, orientation)."""
    return descriptors.reshape(len(descriptors), -1, reference.CELLS, reference.CELLS, reference.BINS)


class TestTwin:
    @settings(max_examples=20)
    @given(
        draw=st.integers(0, 2**32),
        divisions=st.sampled_from(DIVISIONS),
        box=st.tuples(st.floats(0, 30), st.floats(0, 30), st.floats(3, 30), st.floats(3, 30)),
    )
    def test_any_box(self, draw, divisions, box):
        grey = textured(draw)
        error = distances(describe(grey, [box], divisions), slow(grey, [box], divisions))
        assert_allclose(error, 0, atol=error_bound(60, box))

    @settings(max_examples=20)
    @given(
        draw=st.integers(0, 2**32),
        box=st.tuples(st.floats(-20, 60), st.floats(-20, 60), st.floats(12, 30), st.floats(12, 30)),
    )
    def test_boxes_that_reach_out_of_the_window(self, draw, box):
        # a block of which a sliver is inside has little but its noise level to be measured against
        grey = textured(draw)
        error = distances(describe(grey, [box]), slow(grey, [box]))
        assert_allclose(error, 0, atol=20 * error_bound(60, box))

    @pytest.mark.parametrize("side", [60, 300, LARGEST_SIDE])
    def test_a_box_of_normal_size_anywhere_in_the_window(self, side, seed):
        grey, far = textured(seed, side), side - 49.3
        boxes = [(0.0, 0.0, 48.0, 48.0), (far, 0.4, 48.0, 48.0), (0.7 * far, far, 41.3, 48.9)]
        for error, box in zip(distances(describe(grey, boxes), slow(grey, boxes)), boxes, strict=True):
            assert_allclose(error, 0, atol=error_bound(side, box))

    @pytest.mark.parametrize("energy", [0.01, 5.0])
    def test_energy_scales_and_nothing_else(self, energy, seed):
        grey, box = textured(seed), (5.5, 7.2, 30.0, 40.0)
        error = distances(describe(grey, [box], energy=energy), slow(grey, [box], energy=energy), energy)
        assert_allclose(error, 0, atol=error_bound(60, box))

    @given(angle=st.floats(0, 2 * math.pi), slope=st.floats(0.5, 8))
    def test_every_orientation(self, angle, slope):
        rows, columns = np.mgrid[:12, :12]
        grey = (128 + slope * (math.cos(angle) * columns + math.sin(angle) * rows)).astype(np.float32)
        box = (2.0, 2.0, 8.0, 8.0)
        error = distances(describe(grey, [box]), slow(grey, [box]))
        assert_allclose(error, 0, atol=error_bound(12, box))


class TestByHand:
    """A cell of area A holds A times the gradient, and a ninth of A in every orientation for noise."""

    rows, columns = np.mgrid[:20, :20]

    @staticmethod
    def expected(per_pixel):
        """Nine cells alike in each of five blocks, whatever the size of the cells."""
        cell = np.asarray(per_pixel) + 1 / 9
        return cell / math.sqrt(9 * cell @ cell) * math.sqrt(ENERGY / 5)

    def assert_cells(self, grey, per_pixel):
        cells = in_cells(describe(grey, [(4, 4, 9, 9)]))
        assert_allclose(cells, np.broadcast_to(self.expected(per_pixel), cells.shape), rtol=0, atol=1e-5)

    @pytest.mark.parametrize("sign", [-1, 1])
    def test_a_ramp_downwards_has_one_orientation(self, sign):
        self.assert_cells(120 + sign * 3 * self.rows, [0, 0, 0, 0, 6, 0, 0, 0, 0])

    @pytest.mark.parametrize("sign", [-1, 1])
    def test_a_ramp_sideways_lies_between_the_last_and_the_first_orientation(self, sign):
        self.assert_cells(120 + sign * 3 * self.columns, [3, 0, 0, 0, 0, 0, 0, 0, 3])

    def test_a_quarter_of_the_way_between_two_orientations(self):
        angle = math.radians(10 + 20 * 2.25)  # 2.25 orientations beyond the middle of the first
        ramp = 100 + 4 * (math.cos(angle) * self.columns + math.sin(angle) * self.rows)
        self.assert_cells(ramp, [0, 0, 6, 2, 0, 0, 0, 0, 0])

    def test_one_bright_pixel_is_seen_by_its_four_neighbours(self):
        grey = np.zeros((20, 20))
        grey[4, 6] = 100  # in the first row of the middle cell, when cells are four pixels wide and begin at zero
        # above it, in the cell over the middle one: down; left and right of it: across; below it: down
        expected = np.zeros((3, 3, 9))
        expected[0, 1, 4] = 100
        expected[1, 1, [0, 4, 8]] = 100
        expected += 16 / 9
        expected *= math.sqrt(ENERGY / 5) / np.linalg.norm(expected)
        assert_allclose(in_cells(describe(grey, [(0, 0, 12, 12)]))[0, 0], expected, rtol=0, atol=1e-5)


class TestSymmetry:
    """What turning or mirroring the image does to a descriptor, exactly: cells move, orientations permute."""

    SIDE = 60
    BOX = (7.3, 12.6, 31.0, 24.5)

    def turned(self, cells, divisions, flip_x, flip_y):
        """Cells of the descriptor as they would be had the image been flipped."""
        blocks = np.array(hog.DIVISIONS[divisions])
        moved = blocks.copy()
        if flip_x:
            moved[:, [0, 2]] = 1 - blocks[:, [2, 0]]
            cells = cells[:, :, :, ::-1]
        if flip_y:
            moved[:, [1, 3]] = 1 - blocks[:, [3, 1]]
            cells = cells[:, :, ::-1]
        if flip_x != flip_y:
            cells = cells[..., ::-1]  # an orientation of t degrees is now one of 180 - t
        origin = [int(np.argmin(np.abs(moved - block).sum(axis=1))) for block in blocks]
        assert_allclose(moved[origin], blocks, atol=1e-12)
        return cells[:, origin]

    @pytest.mark.parametrize("divisions", DIVISIONS)
    @pytest.mark.parametrize(("flip_x", "flip_y"), [(True, False), (False, True), (True, True)])
    def test_mirrors_and_half_a_turn(self, divisions, flip_x, flip_y, seed):
        x, y, w, h = self.BOX
        grey = textured(seed, self.SIDE)
        there = grey[:: -1 if flip_y else 1, :: -1 if flip_x else 1].copy()
        box = (self.SIDE - x - w if flip_x else x, self.SIDE - y - h if flip_y else y, w, h)
        expected = self.turned(in_cells(describe(grey, [self.BOX], divisions)), divisions, flip_x, flip_y)
        assert_allclose(in_cells(describe(there, [box], divisions)), expected, rtol=0, atol=2e-5)

    def test_a_negative_is_the_same(self, seed):
        grey = textured(seed)
        assert_allclose(describe(255 - grey, [self.BOX]), describe(grey, [self.BOX]), rtol=0, atol=1e-5)

    def test_moving_image_and_box_together(self, seed):
        grey, (x, y, w, h) = textured(seed, 80), self.BOX
        inner = describe(grey[9:, 5:].copy(), [(x, y, w, h)])
        assert_allclose(describe(grey, [(x + 5, y + 9, w, h)]), inner, rtol=0, atol=2e-5)

    def test_a_window_placed_and_zoomed_in_the_image(self, seed):
        grey = textured(seed)
        window = Window(grey, 100.0, -40.0, 0.5)
        x, y, w, h = self.BOX
        boxes = np.array([[x / 0.5 + 100, y / 0.5 - 40, w / 0.5, h / 0.5]])
        grid = hog.cell_grid("quadrants")
        placed = hog.describe(window, hog.integral_histogram(grey), boxes, grid, ENERGY)
        assert_allclose(placed, describe(grey, [self.BOX]), rtol=0, atol=1e-6)


class TestLight:
    BOXES = ((5.0, 5.0, 40.0, 40.0), (12.3, 20.1, 33.0, 25.0))

    @pytest.mark.parametrize("divisions", DIVISIONS)
    def test_squared_length_is_the_energy_and_no_block_speaks_louder_than_another(self, divisions, seed):
        for grey in (textured(seed), np.full((60, 60), 90.0)):
            descriptors = describe(grey, self.BOXES, divisions)
            assert_allclose(np.square(descriptors).sum(axis=1), ENERGY, rtol=1e-5)
            blocks = np.square(descriptors).reshape(len(self.BOXES), 5, 81).sum(axis=2)
            assert_allclose(blocks, ENERGY / 5, rtol=1e-5)
            assert (descriptors >= 0).all()

    @pytest.mark.parametrize("contrast", [0.25, 0.5, 2.0])
    def test_contrast_and_brightness_hardly_matter(self, contrast, seed):
        grey = textured(seed)
        error = distances(describe(contrast * grey + 20, self.BOXES), describe(grey, self.BOXES))
        assert_allclose(error, 0, atol=5e-2)  # measured: 2e-2, at a quarter of the contrast

    def test_a_shadow_over_one_half_leaves_the_blocks_of_the_other_alone(self, seed):
        grey, box = textured(seed), [(10.0, 10.0, 40.0, 40.0)]
        shadow = grey.copy()
        shadow[:, 31:] *= 0.3
        before, after = (in_cells(describe(image, box, "quadrants"))[0] for image in (grey, shadow))
        assert_allclose(after[1], before[1], rtol=0, atol=1e-5)
        assert np.abs(after[0] - before[0]).max() > 0.01

    @pytest.mark.parametrize("level", [0.0, 17.0, 255.0])
    def test_a_flat_image_looks_the_same_in_all_orientations(self, level):
        boxes = [(5.0, 5.0, 20.0, 20.0), (-30.0, 3.3, 20.0, 20.0), (12.7, 9.1, 3.3, 8.8)]
        assert_allclose(describe(np.full((40, 40), level), boxes), FLAT, rtol=1e-5)

    def test_faint_noise_is_nearly_flat(self, seed):
        faint = 100 + 0.01 * np.random.default_rng(seed).standard_normal((60, 60))
        assert_allclose(distances(describe(faint, self.BOXES), FLAT), 0, atol=0.03)  # measured: 0.009

    def test_strong_noise_is_not(self, seed):
        strong = 100 + 10 * np.random.default_rng(seed).standard_normal((60, 60))
        assert (distances(describe(strong, self.BOXES), FLAT) > 0.2).all()


class TestPlaces:
    @settings(max_examples=40)
    @given(
        draw=st.integers(0, 2**32),
        boxes=st.lists(st.tuples(*[st.floats(-1e5, 1e5)] * 2, *[st.floats(0, 1e4)] * 2), min_size=1, max_size=4),
    )
    def test_boxes_anywhere_are_finite_and_no_longer_than_allowed(self, draw, boxes):
        descriptors = describe(textured(draw, 30), boxes)
        assert np.isfinite(descriptors).all()
        assert (np.square(descriptors).sum(axis=1) <= ENERGY * (1 + 1e-5)).all()

    def test_a_box_without_area_is_zero(self, seed):
        boxes = [(4.0, 4.0, 0.0, 0.0), (4.0, 4.0, 9.0, 0.0), (-9.0, 4.0, 0.0, 9.0)]
        assert_array_equal(describe(np.full((30, 30), 80.0), boxes), 0)
        assert np.isfinite(describe(textured(seed, 30), boxes)).all()

    def test_outside_of_the_window_there_is_nothing(self, seed):
        boxes = [(-50.0, 5.0, 20.0, 20.0), (70.0, 5.0, 20.0, 20.0), (5.0, 900.0, 20.0, 20.0)]
        assert_allclose(describe(textured(seed), boxes), FLAT, rtol=1e-2)  # rounding; measured: 1e-3

    @pytest.mark.parametrize("axis", [0, 1, 2, 3])
    def test_a_fraction_of_a_pixel_moves_a_descriptor_a_little(self, axis, seed):
        fine = np.zeros((193, 4))
        fine[:] = (9.0, 8.0, 36.0, 36.0)
        fine[:, axis] += np.arange(193) / 64  # three pixels in steps of a sixty-fourth
        descriptors = describe(textured(seed), fine)
        steps = distances(descriptors[1:], descriptors[:-1])
        assert (steps > 0).all()
        assert (steps < 0.6 / 64).all()  # measured: at most 0.28 of its length per pixel
        assert_allclose(steps[1:], steps[:-1], rtol=0, atol=1.5 * steps.mean())  # measured: 0.63

    def test_rows_do_not_depend_on_each_other_and_inputs_are_untouched(self, seed):
        grey = textured(seed)
        boxes = np.array([[3.3, 4.4, 30, 30], [20, 11, 25.5, 40.0]])
        window, grid = Window(grey.copy(), 0.0, 0.0, 1.0), hog.cell_grid("corners")
        integral = hog.integral_histogram(window.grey)
        kept = integral.copy()
        together = hog.describe(window, integral, boxes, grid, 1.0)
        again = np.array([hog.describe(window, integral, box[None], grid, 1.0)[0] for box in boxes])
        assert_allclose(together, again, rtol=0, atol=1e-6)
        assert_array_equal(window.grey, grey)
        assert_array_equal(integral, kept)
        assert_array_equal(boxes, [[3.3, 4.4, 30, 30], [20, 11, 25.5, 40.0]])


class TestIntegral:
    def test_its_last_corner_is_the_sum_over_all_pixels(self, seed):
        grey = textured(seed, 24)
        expected = sum(reference.votes(grey, row, column) for row in range(24) for column in range(24))
        assert_allclose(hog.integral_histogram(grey)[-1, -1], expected, rtol=1e-4)

    def test_orientations_share_the_length_of_the_gradient(self, seed):
        grey = textured(seed, 24)
        padded = np.pad(grey.astype(float), 1, mode="edge")
        across, down = padded[1:-1, 2:] - padded[1:-1, :-2], padded[2:, 1:-1] - padded[:-2, 1:-1]
        total = np.cumsum(np.cumsum(np.hypot(across, down), axis=0), axis=1)
        assert_allclose(hog.integral_histogram(grey)[1:, 1:].sum(axis=2), total, rtol=1e-5)

    def test_the_smallest_windows(self):
        for shape in ((1, 1), (1, 5), (2, 2)):
            integral = hog.integral_histogram(np.arange(math.prod(shape), dtype=np.float32).reshape(shape))
            assert integral.shape == (shape[0] + 1, shape[1] + 1, reference.BINS)
            assert np.isfinite(integral).all()


class TestCells:
    @pytest.mark.parametrize("divisions", DIVISIONS)
    def test_405_numbers(self, divisions, seed):
        assert hog.cell_grid(divisions).dimension == 405
        descriptors = describe(textured(seed), [(5, 5, 30, 30)] * 3, divisions)
        assert descriptors.shape == (3, 405)
        assert descriptors.dtype == np.float32

    @pytest.mark.parametrize("divisions", DIVISIONS)
    def test_the_cells_of_a_block_tile_it(self, divisions):
        grid, blocks = hog.cell_grid(divisions), hog.DIVISIONS[divisions]
        left, right = grid.x_edges[grid.cells[:, 0]], grid.x_edges[grid.cells[:, 1]]
        top, bottom = grid.y_edges[grid.cells[:, 2]], grid.y_edges[grid.cells[:, 3]]
        for number, (x0, y0, x1, y1) in enumerate(blocks):
            own = slice(number * 9, (number + 1) * 9)
            w, h = (x1 - x0) / 3, (y1 - y0) / 3
            corners = [(x0 + j * w, y0 + i * h) for i in range(3) for j in range(3)]
            expected = [(x, y, x + w, y + h) for x, y in corners]
            assert_allclose(np.column_stack([left, top, right, bottom])[own], expected, rtol=0, atol=1e-11)
            areas = (right - left)[own] * (bottom - top)[own]
            assert_allclose(areas.sum(), (x1 - x0) * (y1 - y0), rtol=1e-10)

    @pytest.mark.parametrize("divisions", DIVISIONS)
    def test_no_two_edges_of_the_grid_are_the_same(self, divisions):
        grid = hog.cell_grid(divisions)
        for edges in (grid.x_edges, grid.y_edges):
            assert_allclose(edges[[0, -1]], [0, 1])
            assert (np.diff(edges) > 1e-3).all()

    @pytest.mark.parametrize("divisions", DIVISIONS)
    def test_five_blocks_the_first_of_them_whole_and_together_symmetric(self, divisions):
        blocks = hog.DIVISIONS[divisions]
        assert len(blocks) == 5
        assert blocks[0] == (0, 0, 1, 1)
        flipped = {tuple(np.round((1 - c, 1 - d, 1 - a, 1 - b), 9)) for a, b, c, d in blocks}
        assert flipped == {tuple(np.round(block, 9)) for block in blocks}


def test_the_extractor_gives_what_the_steps_give(seed):
    frame = np.random.default_rng(seed).integers(0, 256, size=(60, 70, 3), dtype=np.uint8)
    region, boxes = Box(5, 6, 50, 40), np.array([[10.0, 12, 20, 18], [22.5, 14.5, 20, 18]])
    extractor = Extractor(FeatureConfig(kind="hog"))
    window = cut_window(frame, region, 1.3)
    grid, integral = hog.cell_grid("quadrants"), hog.integral_histogram(window.grey)
    expected = hog.describe(window, integral, boxes, grid, extracting.ENERGY)
    assert extractor.dimension == 405
    assert_array_equal(extractor.look(frame, region, 1.3).describe(boxes), expected)
