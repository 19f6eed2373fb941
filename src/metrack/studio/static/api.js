// Asking the server. A refusal comes as one sentence, which is thrown and shown as it is.

export async function ask(path, { method = "GET", body } = {}) {
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The studio does not answer. Is it still running? Start it again with: metrack studio");
  }
  const values = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(values.error || `The studio answered ${answer.status}.`), { status: answer.status });
  return values;
}

export const post = (path, body = {}) => ask(path, { method: "POST", body });

export function frameAddress(source, number, width) {
  const query = new URLSearchParams({ source, n: number });
  if (width) query.set("width", width);
  return `/api/frame?${query}`;
}

// Uploads with progress: fetch cannot tell how much was sent.
export function upload(file, progress) {
  const request = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    request.upload.onprogress = (event) => progress(event.loaded / Math.max(event.total, 1));
    request.onload = () => {
      let values = {};
      try { values = JSON.parse(request.responseText); } catch { /* not ours */ }
      if (request.status < 300) resolve(values);
      else reject(new Error(values.error || `The studio answered ${request.status}.`));
    };
    request.onerror = () => reject(new Error(`Sending ${file.name} broke off. It may be too large, or the studio was closed.`));
    request.onabort = () => reject(new Error(`Sending ${file.name} was cancelled.`));
  });
  request.open("PUT", `/api/uploads/${encodeURIComponent(file.name)}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.send(file);
  return { done, cancel: () => request.abort() };
}

// Watching a run: messages are acknowledged once they are drawn, so that the server never runs ahead of this page, and
// with the width at which pictures are shown, so that it sends none that are larger. `closed` is the code with which the
// server closes a run that it has put away.
export function watch(run, closed, { take, lost, putAway, pixels }) {
  const socket = new WebSocket(`ws://${location.host}/api/runs/${run}/watch?width=${pixels()}`);
  socket.binaryType = "arraybuffer";
  let wanted = true;
  socket.onmessage = async ({ data }) => {
    const length = new DataView(data).getUint32(0);
    const message = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
    const picture = new Uint8Array(data, 4 + length);
    await take(message, picture.length ? picture : null);
    if (socket.readyState === WebSocket.OPEN) socket.send(String(pixels()));
  };
  socket.onclose = ({ code }) => {
    if (!wanted) return;
    if (code === closed) putAway();
    else lost();
  };
  return { close() { wanted = false; socket.close(); } };
}
