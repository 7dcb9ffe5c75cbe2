"""Images drawn for the tests, and slow, literal versions of what the library computes."""

from collections import Counter, deque

import numpy as np
from PIL import Image
from skimage.segmentation import slic

HEIGHT, WIDTH = 48, 64


def draw(seed, height=HEIGHT, width=WIDTH):
    """A noisy picture of coloured discs and the classes of its pixels; 255 around each disc."""
    rng = np.random.default_rng(seed)
    image = np.full((height, width, 3), rng.integers(0, 256, 3), np.int64)
    mask = np.zeros((height, width), np.uint8)
    row, column = np.indices((height, width))
    for _ in range(4):
        distance = np.hypot(row - rng.integers(height), column - rng.integers(width))
        radius = rng.integers(5, 16)
        image[distance < radius] = rng.integers(0, 256, 3)
        mask[distance < radius + 2] = 255
        mask[distance < radius] = rng.integers(1, 21)
    noise = rng.integers(-12, 13, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8), mask


def write_pair(folder, name, image, mask, images="JPEGImages", masks="SegmentationClass"):
    """An image and its palette mask, in VOC's layout."""
    (folder / images).mkdir(parents=True, exist_ok=True)
    (folder / masks).mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(folder / images / f"{name}.png")
    palette = Image.fromarray(mask, "L").convert("P")
    palette.putdata(mask.ravel().tolist())
    palette.putpalette([(37 * i + 11) % 256 for i in range(768)])
    palette.save(folder / masks / f"{name}.png")


def gallery(folder, count, **options):
    """A folder of drawn pictures: `a00`, `a01`, ..."""
    for seed in range(count):
        write_pair(folder, f"a{seed:02d}", *draw(seed, **options))
    return folder


def segment_by_every_number(image, compactness, most):
    """SLIC as PascalVOC-SP runs it: for each number of segments."""
    wanted = most + 50
    while True:
        labels = slic(
            (image / 255.0).astype(np.float32),
            n_segments=wanted,
            compactness=compactness,
            start_label=0,
            channel_axis=-1,
        )
        if len(np.unique(labels)) <= most:
            return labels
        wanted -= 1


def pixels_of(labels, superpixel):
    return [tuple(pixel) for pixel in np.argwhere(labels == superpixel)]


def centroid(pixels):
    return [sum(p[axis] for p in pixels) / len(pixels) for axis in (0, 1)]


def statistics(image, pixels):
    """Mean, std, max, min of each channel, in this order."""
    colours = np.array([image[pixel] / 255.0 for pixel in pixels])
    by_statistic = (colours.mean(0), colours.std(0), colours.max(0), colours.min(0))
    return np.concatenate(by_statistic)


def majority(mask, pixels, void=255):
    """The most frequent class that is not void, the smallest of equals; -1 if all are void."""
    votes = Counter(int(mask[pixel]) for pixel in pixels if mask[pixel] != void)
    return min(votes, key=lambda value: (-votes[value], value), default=-1)


def at_centroid(mask, pixels, void=255):
    row, column = (round(place) for place in centroid(pixels))  # halves to the even pixel
    value = int(mask[row, column])
    return -1 if value == void else value


def touching(labels):
    """Each pixel joins its superpixel to the smallest and the largest id around it."""
    pairs = set()
    height, width = labels.shape
    for row in range(height):
        for column in range(width):
            here = labels[row, column]
            around = [
                labels[r, c]
                for r in range(max(row - 1, 0), min(row + 2, height))
                for c in range(max(column - 1, 0), min(column + 2, width))
            ]
            for other in (min(around), max(around)):
                if other != here:
                    pairs.add((int(min(here, other)), int(max(here, other))))
    return sorted(pairs)


def nearest(centroids, k):
    pairs = set()
    for i, here in enumerate(centroids):
        others = [j for j in range(len(centroids)) if j != i]
        others.sort(key=lambda j: (sum((here - centroids[j]) ** 2), j))
        pairs |= {(min(i, j), max(i, j)) for j in others[:k]}
    return sorted(pairs)


def visits(pairs, start):
    """Breadth first: the steps (from, to), neighbours in order of id."""
    neighbours = {}
    for a, b in pairs:
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)
    seen, queue, steps = {start}, deque([start]), []
    while queue:
        node = queue.popleft()
        for other in sorted(neighbours.get(node, ())):
            if other not in seen:
                seen.add(other)
                queue.append(other)
                steps.append((node, other))
    return steps
