"""Folders of images: layouts, lists, and everything that can be wrong with them."""

import numpy as np
import pascalvoc_oracles as oracle
import pytest
from PIL import Image
from scipy.io import savemat

from ctan.datasets.pascalvoc import pascal_voc
from ctan.datasets.pascalvoc_folder import find_pairs, read_pair
from ctan.datasets.pascalvoc_split import halve, parts_by_lists
from ctan.errors import CtanError, DataError

VOC = ("JPEGImages", "SegmentationClass")


def lists(folder, **parts):
    folder.mkdir(parents=True, exist_ok=True)
    for part, names in parts.items():
        (folder / f"{part}.txt").write_text("".join(f"{name}\n" for name in names))


def test_images_without_a_mask_are_left_aside(tmp_path):
    oracle.gallery(tmp_path, 2)
    (tmp_path / "SegmentationClass" / "a00.png").unlink()
    assert [pair.name for pair in find_pairs(tmp_path, *VOC, None)] == ["a01"]


def test_a_palette_mask_is_read_by_index_and_a_grey_image_as_rgb(tmp_path):
    image, mask = oracle.draw(0)
    oracle.write_pair(tmp_path, "a", image, mask)
    Image.fromarray(image[..., 0]).save(tmp_path / "JPEGImages" / "a.png")
    (pair,) = find_pairs(tmp_path, *VOC, None)
    rgb, classes = read_pair(pair)
    np.testing.assert_array_equal(classes, mask)
    np.testing.assert_array_equal(rgb, np.repeat(image[..., :1], 3, axis=2))


def test_masks_of_sbd(tmp_path):
    image, mask = oracle.draw(0)
    oracle.write_pair(tmp_path, "a", image, mask, images="img", masks="png")
    (tmp_path / "cls").mkdir()
    savemat(tmp_path / "cls" / "a.mat", {"GTcls": {"Segmentation": mask, "Boundaries": 0}})
    (pair,) = find_pairs(tmp_path, "img", "cls", None)
    np.testing.assert_array_equal(read_pair(pair)[1], mask)


@pytest.mark.parametrize("place", [".", "ImageSets/Segmentation"])
def test_lists_give_order_and_part(tmp_path, place):
    oracle.gallery(tmp_path, 5)
    lists(tmp_path / place, train=["a03", "a00"], val=["a02"], test=["a01"])
    pairs = find_pairs(tmp_path, *VOC, None)
    expected = [("a03", "train"), ("a00", "train"), ("a02", "val"), ("a01", "test")]
    assert [(pair.name, pair.part) for pair in pairs] == expected
    assert parts_by_lists(pairs, np.zeros(4, np.int64)) == [[0, 1], [2], [3]]
    assert len(find_pairs(tmp_path, *VOC, "shares")) == 5


def test_without_a_list_for_test_each_class_of_val_is_halved(tmp_path):
    foreground = np.random.default_rng(0).integers(0, 5, 101)
    parts = np.array(halve(foreground))
    assert (parts == "test").sum() == 51  # as PascalVOC-SP: test has the odd one
    for number in range(5):
        of_class = parts[foreground == number]
        assert abs((of_class == "test").sum() - (of_class == "val").sum()) <= 1
    oracle.gallery(tmp_path, 5)
    lists(tmp_path, train=["a00"], val=["a01", "a02", "a03", "a04"])
    pairs = find_pairs(tmp_path, *VOC, "lists")
    assert parts_by_lists(pairs, np.array([7, 9, 2, 2, 9])) == [[0], [3, 4], [1, 2]]


def test_all_problems_of_a_folder_at_once(tmp_path):
    oracle.gallery(tmp_path, 2)
    Image.new("RGB", (4, 4)).save(tmp_path / "JPEGImages" / "a00.bmp")
    lists(tmp_path, train=["a00", "nowhere"], val=["a01"])
    (tmp_path / "SegmentationClass" / "a01.png").unlink()
    with pytest.raises(DataError) as error:
        find_pairs(tmp_path, *VOC, None)
    text = str(error.value)
    assert "4 problems" in text
    assert "a00: both a00.bmp and a00.png" in text
    assert "nowhere: no image in 'JPEGImages' (named in train.txt)" in text
    assert "nowhere: no mask" in text
    assert "a01: no mask in 'SegmentationClass' (named in val.txt)" in text


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"train": ["a00"]}, "no val.txt beside train.txt"),
        ({"train": ["a00"], "val": ["a00"]}, "a00: named 2 times"),
    ],
)
def test_lists_that_make_no_split(tmp_path, parts, message):
    oracle.gallery(tmp_path, 1)
    lists(tmp_path, **parts)
    with pytest.raises(DataError, match=message):
        find_pairs(tmp_path, *VOC, None)


def test_no_lists_although_asked_for_and_no_masks(tmp_path):
    oracle.gallery(tmp_path, 1)
    with pytest.raises(DataError, match=r"no train\.txt and val\.txt.*split='shares'"):
        find_pairs(tmp_path, *VOC, "lists")
    (tmp_path / "SegmentationClass" / "a00.png").unlink()
    with pytest.raises(DataError, match="no masks in 'SegmentationClass'"):
        find_pairs(tmp_path, *VOC, None)
    with pytest.raises(DataError, match=r"no folder 'cls'.*masks='\.\.\.'"):
        find_pairs(tmp_path, "JPEGImages", "cls", None)


def test_all_bad_files_are_named_and_the_good_ones_kept(tmp_path):
    oracle.gallery(tmp_path, 4)
    image = tmp_path / "JPEGImages" / "a00.png"
    image.write_bytes(image.read_bytes()[:200])
    (tmp_path / "JPEGImages" / "a01.png").write_bytes(b"no picture")
    colours = Image.fromarray(oracle.draw(2)[0])
    colours.save(tmp_path / "SegmentationClass" / "a02.png")
    with pytest.raises(DataError) as error:
        pascal_voc(tmp_path, nodes=9, superpixels=30)
    text = str(error.value)
    assert "3 problems" in text
    assert "a00.png: not a readable image" in text
    assert "a01.png: not a readable image" in text
    assert "a02.png: a picture of mode RGB, expected one whole number per pixel" in text
    kept = tmp_path / "superpixels" / "slic-30-compactness-10"
    assert [file.name for file in kept.iterdir()] == ["a03.npz"]


def test_a_mask_of_another_size(tmp_path):
    oracle.write_pair(tmp_path, "a", oracle.draw(0)[0], oracle.draw(0, height=20)[1])
    with pytest.raises(DataError, match=r"20 x 64 pixels \(rows x columns\), its image 48 x 64"):
        read_pair(find_pairs(tmp_path, *VOC, None)[0])


def test_all_wrong_options_at_once(tmp_path):
    with pytest.raises(CtanError) as error:
        pascal_voc(
            tmp_path, compactness=20, adjacency="coord", label="center", split="list",
            processes=0, whole_batches=0,
        )  # fmt: skip
    text = str(error.value)
    assert "did you mean 'coord8'" in text
    assert "did you mean 'lists'" in text
    assert "unknown label 'center'" in text
    assert "434 at 10 and 474 at 30" in text
    assert "processes=0" in text
    assert "whole_batches=0" in text
    with pytest.raises(CtanError, match="nodes=1: expected at least 2"):
        pascal_voc(tmp_path, nodes=1)
    with pytest.raises(CtanError, match="compactness=0"):
        pascal_voc(tmp_path, compactness=0)
