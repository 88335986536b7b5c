/**
 * Tells V8 what kind of program this is. It is broad and rarely hot: with V8's own figures the optimising
 * compiler took a quarter of the CPU of a swarm of a thousand agents, on the core that their server needed.
 * So it optimises later and inlines less; what loops is optimised all the same, some milliseconds later
 * (docs/benchmarks.md).
 *
 * Imported first, for its effect; never by the library, whose process is somebody else's.
 */
import { setFlagsFromString } from 'node:v8';

/** Later ones have another compiler in between, and do not know all of these flags. */
const MEASURED = '11.';

const isMeasured = process.versions.v8.startsWith(MEASURED);

if (isMeasured) {
  // Bytes of bytecode that a function runs through before it counts as hot; V8's own figure is 67,584.
  setFlagsFromString('--interrupt-budget=130000');
  // Bytes of bytecode that may be inlined into one function; V8's own figure is 920.
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=300');
}

/** Many agents make much that lives for one turn; one alone does not, and need not have the room for it. */
export const makeRoomForMany = (): void => {
  // By what the room for young objects is multiplied when it is too small; V8's own figure is 2.
  if (isMeasured) setFlagsFromString('--semi-space-growth-factor=16');
};
