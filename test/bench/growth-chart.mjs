// A chart as SVG: what a create and a watch event cost, and the memory, against the number of objects.
const width = 640;
const [left, right] = [60, 20];
const panelHeight = 150;
const [above, below] = [30, 15];

const text = (x, y, content, { anchor = 'middle', color = '#444' } = {}) =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${color}">${content}</text>`;

/** `points`: `{ count, createMs, eventMs, residentMB }`, in order. */
export function growthChart(points) {
  const counts = points.map(({ count }) => count);
  const x = (count) => Math.round(left + (count / Math.max(...counts)) * (width - left - right));
  const series = [
    {
      title: "server's CPU per create, ms",
      color: '#0a5',
      digits: 2,
      values: points.map(({ createMs }) => createMs),
      isFlat: true,
    },
    {
      title: "server's CPU per watch event with its share of the create, µs",
      color: '#c50',
      digits: 0,
      values: points.map(({ eventMs }) => eventMs * 1000),
      isFlat: true,
    },
    {
      title: 'resident memory, MB',
      color: '#36c',
      digits: 0,
      values: points.map(({ residentMB }) => residentMB),
    },
  ];
  const height = series.length * panelHeight + 30;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">
<rect width="${width}" height="${height}" fill="#fff"/>
${series.map((one, i) => panel({ ...one, counts, x, top: i * panelHeight })).join('\n')}
${counts.map((count) => text(x(count), height - 24, `${count / 1000}k`)).join('')}
${text(width / 2, height - 6, 'objects')}
</svg>
`;
}

/** One line with its own scale, from zero; where it is to be flat, ± 20 % of the mean in grey behind it. */
function panel({ title, color, digits, values, isFlat, counts, x, top }) {
  const max = Math.max(...values) * 1.25;
  const y = (value) => Math.round(top + panelHeight - below - (value / max) * (panelHeight - above - below));
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const points = values.map((value, i) => [x(counts[i]), y(value)]);
  const ticks = [0, 0.5, 1].map((part) => part * max);
  return [
    isFlat &&
      `<rect x="${left}" y="${y(mean * 1.2)}" width="${width - left - right}" height="${y(mean * 0.8) - y(mean * 1.2)}" fill="#eee"/>`,
    text(left, top + 18, `${title}${isFlat ? ' (grey: mean ± 20 %)' : ''}`, { anchor: 'start', color }),
    ...ticks.map(
      (tick) => `<line x1="${left}" x2="${width - right}" y1="${y(tick)}" y2="${y(tick)}" stroke="#ccc"/>`,
    ),
    ...ticks.map((tick) => text(left - 8, y(tick) + 4, tick.toFixed(digits), { anchor: 'end' })),
    `<polyline fill="none" stroke="${color}" stroke-width="2" points="${points.map((p) => p.join(',')).join(' ')}"/>`,
    ...points.map(([px, py]) => `<circle cx="${px}" cy="${py}" r="3" fill="${color}"/>`),
  ]
    .filter(Boolean)
    .join('\n');
}
