// Numbers and rows as the benchmarks print them.
export const shown = (value, digits = 0) =>
  Number.isFinite(value) ? value.toLocaleString('en', { maximumFractionDigits: digits }) : '–';

export const row = (cells) => `| ${cells.join(' | ')} |`;

export const head = (cells) => `${row(cells)}\n${row(cells.map(() => '---'))}`;
