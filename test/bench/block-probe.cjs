// Preloaded into a component (`--require`): for how long its event loop was held up, and how much of that its thread ran.
// What a busy machine takes from the process is no block of its own. Measures from its parent's message `begin` to `end`,
// which it answers with the longest.
const { openSync, readSync } = require('node:fs');

const periodMs = 10;
const stat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const bytes = Buffer.alloc(64);
/** The main thread's time on a CPU, ms. Linux counts it in nanoseconds. */
const onCpuMs = () => parseInt(bytes.latin1Slice(0, readSync(stat, bytes, 0, bytes.length, 0)), 10) / 1e6;

let longestMs = 0;
let timer;
function begin() {
  longestMs = 0;
  let at = performance.now();
  let cpu = onCpuMs();
  timer = setInterval(() => {
    const [now, used] = [performance.now(), onCpuMs()];
    longestMs = Math.max(longestMs, Math.min(now - at - periodMs, used - cpu));
    [at, cpu] = [now, used];
  }, periodMs).unref();
}

process.on('message', (message) => {
  clearInterval(timer);
  if (message === 'begin') begin();
  else process.send({ longestBlockMs: longestMs });
});
process.channel.unref();
