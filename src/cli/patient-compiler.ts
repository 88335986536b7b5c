/**
 * Lets V8 optimise later and inline less. This program is broad and rarely hot: with V8's own figures the
 * optimising compiler took a quarter of the CPU of a swarm of a thousand agents, on the core that their
 * server needed. What loops is optimised all the same, some milliseconds later (docs/benchmarks.md).
 *
 * Imported first and for its effect alone; never by the library, whose process is somebody else's.
 */
import { setFlagsFromString } from 'node:v8';

/** Later ones have another compiler in between, and do not know these flags. */
const MEASURED = '11.';

if (process.versions.v8.startsWith(MEASURED)) {
  // Bytes of bytecode that a function runs through before it counts as hot; V8's own figure is 67,584.
  setFlagsFromString('--interrupt-budget=130000');
  // Bytes of bytecode that may be inlined into one function; V8's own figure is 920.
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=300');
}
