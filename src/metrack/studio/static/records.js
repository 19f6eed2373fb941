// Records of a run, as they travel: per target an object of columns { x, y, w, h, score, state, ... } with a value for
// every frame. A column that is missing has no value in any frame.

export const frameCount = (series) => series[0]?.score.length ?? 0;

// The records of all targets in a frame, counted from the first one followed, as [{ target, x, y, w, h, score, state, ... }].
export function recordsAt(series, place) {
  if (place < 0 || place >= frameCount(series)) return [];
  return series.map((columns, n) => {
    const values = Object.entries(columns).map(([name, column]) => [name, column[place]]);
    return { target: n + 1, ...Object.fromEntries(values) };
  });
}

export const recordsShown = ({ run, shown }) => (run ? recordsAt(run.series, shown - run.status.start) : []);

export const boxOf = ({ x, y, w, h }) => [x, y, w, h];

// Put records in the place of those from `begin` on.
export function replaceFrom(series, begin, more) {
  for (const columns of series) for (const column of Object.values(columns)) column.length = Math.min(column.length, begin);
  more.forEach((added, n) => {
    series[n] ??= {};
    for (const name of new Set([...Object.keys(series[n]), ...Object.keys(added)])) {
      const column = series[n][name] ?? [];
      series[n][name] = column;
      column.length = begin;
      column.push(...(added[name] ?? new Array(added.score.length)));
    }
  });
}
