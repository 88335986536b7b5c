/** `--simulate`: a print run against a simulator that lives as long as the run. */
import { ECHO_SCRIPT, loadScript } from '../simulator/script.js';
import { startSimulator } from '../simulator/server.js';
import type { Machine } from './machine.js';
import { printMode } from './print-mode.js';
import type { RunFlags } from './run-flags.js';

export const withSimulator = async (
  flags: RunFlags,
  machine: Machine,
  prompt: string | undefined,
): Promise<number> => {
  const script =
    typeof flags.simulate === 'string' ? await loadScript(flags.simulate) : ECHO_SCRIPT;
  const simulator = await startSimulator({ script });
  try {
    const provider = { baseUrl: simulator.url, apiKey: 'simulated', authToken: undefined };
    return await printMode(prompt, flags, machine, provider);
  } finally {
    await simulator.close();
  }
};
