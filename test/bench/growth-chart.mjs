// A chart as SVG: what a create costs, and what memory is resident, against the number of objects.
const [width, height] = [640, 320];
const [left, right, top, bottom] = [60, 60, 40, 45];

const line = (points, color) =>
  `<polyline fill="none" stroke="${color}" stroke-width="2" points="${points.map((p) => p.join(',')).join(' ')}"/>` +
  points.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3" fill="${color}"/>`).join('');

const text = (x, y, content, { anchor = 'middle', color = '#444' } = {}) =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${color}">${content}</text>`;

/** `points`: `{ count, cpuMs, residentMB }`, in order. */
export function growthChart(points) {
  const most = (values) => Math.max(...values) * 1.25;
  const [maxCount, maxCpu, maxMB] = [
    Math.max(...points.map(({ count }) => count)),
    most(points.map(({ cpuMs }) => cpuMs)),
    most(points.map(({ residentMB }) => residentMB)),
  ];
  const x = (count) => Math.round(left + (count / maxCount) * (width - left - right));
  const y = (value, max) => Math.round(height - bottom - (value / max) * (height - top - bottom));
  const [cpuColor, memoryColor] = ['#0b6', '#36c'];
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">
<rect width="${width}" height="${height}" fill="#fff"/>
${text(left, 20, "server's CPU per create with one watcher, ms", { anchor: 'start', color: cpuColor })}
${text(width - right, 20, 'resident memory, MB', { anchor: 'end', color: memoryColor })}
${ticks.map((t) => `<line x1="${left}" x2="${width - right}" y1="${y(t, 1)}" y2="${y(t, 1)}" stroke="#ddd"/>`).join('')}
${ticks.map((t) => text(left - 8, y(t, 1) + 4, (t * maxCpu).toFixed(2), { anchor: 'end' })).join('')}
${ticks.map((t) => text(width - right + 8, y(t, 1) + 4, Math.round(t * maxMB), { anchor: 'start' })).join('')}
${points.map(({ count }) => text(x(count), height - bottom + 18, `${count / 1000}k`)).join('')}
${text(width / 2, height - 8, 'objects')}
${line(
  points.map(({ count, cpuMs }) => [x(count), y(cpuMs, maxCpu)]),
  cpuColor,
)}
${line(
  points.map(({ count, residentMB }) => [x(count), y(residentMB, maxMB)]),
  memoryColor,
)}
</svg>
`;
}
