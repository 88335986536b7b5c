/**
 * V8 flags for a large program with few hot functions. With V8's defaults the optimising compiler
 * took a quarter of the CPU of a swarm of a thousand agents. These flags make V8 optimise later and
 * inline less. Loops are still optimised, some milliseconds later (docs/benchmarks.md).
 *
 * V8 rejects compiled code, also that of Node's own modules, once a flag differs from the flags of its compilation.
 * So the flags are set when a swarm starts, after a start has loaded its modules. The library never sets them,
 * because the process belongs to the calling program.
 */
import { setFlagsFromString } from 'node:v8';

/** Prefix of the V8 version that was measured. Later versions have another compiler and lack some flags. */
const MEASURED_V8_VERSION = '11.';

export const v8Flags = {
  /** Call when a swarm starts; a single agent needs none of the flags. */
  tuneForSwarm: (): void => {
    if (!process.versions.v8.startsWith(MEASURED_V8_VERSION)) return;
    // Bytes of bytecode that a function executes before it counts as hot. V8's default: 67,584.
    setFlagsFromString('--interrupt-budget=130000');
    // Maximum bytes of bytecode inlined into one function. V8's default: 920.
    setFlagsFromString('--max-inlined-bytecode-size-cumulative=300');
    // Growth factor of the heap of young objects. V8's default: 2.
    setFlagsFromString('--semi-space-growth-factor=16');
  },
};
