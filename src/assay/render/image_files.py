"""Opening of image files: PNG, JPEG and WebP only, with a limit on pixels.

Pillow knows dozens of formats. Some of them start other programs (an EPS file runs Ghostscript), and a small file can
claim any size; so what comes from elsewhere is opened here and nowhere else.
"""

import io
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from assay.base import DataError

FORMATS = ("PNG", "JPEG", "WEBP")
MOST_PIXELS = 50_000_000


def open_image(source: bytes | Path, name: str) -> Image.Image:
    """Open a picture without decoding its pixels; refuse other formats and what is too large, by this name."""
    try:
        image = Image.open(io.BytesIO(source) if isinstance(source, bytes) else source, formats=FORMATS)
    except FileNotFoundError:
        raise DataError(f"picture {name!r} cannot be read: there is no such file") from None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise DataError(f"picture {name!r} is no PNG, JPEG or WebP file; convert it") from None
    if image.width * image.height > MOST_PIXELS:
        image.close()
        raise DataError(f"picture {name!r} has {image.width} x {image.height} pixels, at most {MOST_PIXELS:,} are read")
    return image
