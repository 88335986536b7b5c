/**
 * Page script: shows tooltips, finds agents and sorts the table.
 *
 * The page is complete without the script. The script writes text only, never markup.
 */
export const PAGE_SCRIPT = `
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const tip = document.createElement('div');
tip.id = 'tip'; tip.hidden = true; tip.setAttribute('role', 'tooltip');
document.body.append(tip);
const hide = () => { tip.hidden = true; };
const show = (event, text) => {
  tip.textContent = text; tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = event.clientX + 14 + width > innerWidth ? event.clientX - width - 14 : event.clientX + 14;
  const top = event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18;
  tip.style.left = Math.max(4, left) + 'px'; tip.style.top = Math.max(4, top) + 'px';
};
const timeAt = (x) => {
  const piece = data.axis.find((it) => x <= it[3]) || data.axis[data.axis.length - 1];
  if (!piece) return 0;
  const [from, to, x0, x1] = piece;
  return from + (x1 > x0 ? (x - x0) / (x1 - x0) : 0) * (to - from);
};
const two = (ms, large, name, small, of) => {
  const rest = Math.floor((ms % large) / small);
  return Math.floor(ms / large) + ' ' + name + (rest ? ' ' + rest + ' ' + of : '');
};
const duration = (ms) => ms < 1e3 ? Math.round(ms) + ' ms' : ms < 6e4 ? Number((ms / 1e3).toFixed(1)) + ' s'
  : ms < 36e5 ? two(ms, 6e4, 'min', 1e3, 's') : ms < 1728e5 ? two(ms, 36e5, 'h', 6e4, 'min') : two(ms, 864e5, 'd', 36e5, 'h');
const figure = { usd: (value) => '$' + value.toFixed(value < 1 ? 4 : 2), tokens: (value) => Math.round(value).toLocaleString('en-US') + ' tokens' };
const along = (event, element) => {
  const box = element.getBoundingClientRect();
  return Math.min(1000, Math.max(0, (event.clientX - box.left) / box.width * 1000));
};

document.addEventListener('pointermove', (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const lane = target && target.closest('li.lane');
  const rect = target && target.closest('rect[class^="s-"]');
  if (lane && rect) {
    const x = rect.x.baseVal.value, width = rect.width.baseVal.value;
    const from = timeAt(x), state = rect.getAttribute('class').slice(2);
    show(event, lane.querySelector('.name').textContent + ' \\u00b7 ' + state + '\\n'
      + duration(Math.max(1, timeAt(x + width) - from)) + ', from ' + duration(from) + ' on');
    return;
  }
  const frame = target && target.closest('.frame');
  const chart = frame && data.charts[frame.closest('.chart').dataset.chart];
  if (!chart) { hide(); return; }
  const x = along(event, frame);
  let at = 0;
  while (at + 1 < chart.xs.length && chart.xs[at + 1] <= x) at += 1;
  const lines = chart.layers.map(({ name, values }) => name + ': ' + figure[chart.unit](values[at] || 0));
  show(event, 'at ' + duration(timeAt(x)) + '\\n' + lines.join('\\n'));
});
document.addEventListener('pointerleave', hide);
document.addEventListener('scroll', hide, true);

const rows = [...document.querySelectorAll('[data-agent]')].map((row) => ({ row, text: (row.textContent + ' ' + row.dataset.agent).toLowerCase() }));
const find = document.getElementById('find');
find.closest('.find').hidden = false;
const found = document.getElementById('found');
find.addEventListener('input', () => {
  const wanted = find.value.trim().toLowerCase();
  const ids = new Set(rows.filter(({ text }) => text.includes(wanted)).map(({ row }) => row.dataset.agent));
  for (const { row } of rows) row.hidden = !ids.has(row.dataset.agent);
  found.textContent = wanted === '' ? '' : ids.size + ' found';
});

const table = document.querySelector('table[data-rows]');
const body = table.tBodies[0];
const inTree = [...body.rows];
const heads = [...table.tHead.rows[0].cells];
heads.forEach((head, column) => {
  const button = document.createElement('button');
  button.type = 'button'; button.textContent = head.textContent;
  head.replaceChildren(button);
  button.addEventListener('click', () => {
    const isNumber = head.classList.contains('number');
    const order = isNumber ? ['descending', 'ascending', ''] : ['ascending', 'descending', ''];
    const next = order[(order.indexOf(head.getAttribute('aria-sort') || '') + 1) % 3];
    for (const other of heads) other.removeAttribute('aria-sort');
    if (next) head.setAttribute('aria-sort', next);
    const valueOf = (row) => isNumber ? Number(row.cells[column].dataset.value) : row.cells[column].textContent.trim();
    const compare = (a, b) => isNumber ? valueOf(a) - valueOf(b) : valueOf(a).localeCompare(valueOf(b));
    const sign = next === 'descending' ? -1 : 1;
    body.append(...(next ? [...inTree].sort((a, b) => sign * compare(a, b)) : inTree));
  });
});
`;
