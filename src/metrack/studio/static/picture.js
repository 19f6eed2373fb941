// From a JPEG file in memory to something that a canvas can draw, off the page's own thread.

export async function decoded(file) {
  if (window.ImageDecoder) {
    const decoder = new ImageDecoder({ data: file, type: "image/jpeg" });
    try { return (await decoder.decode()).image; } finally { decoder.close(); }
  }
  return createImageBitmap(new Blob([file], { type: "image/jpeg" }));
}
