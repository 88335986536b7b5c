/** Runs with a simulator as the model (`--simulate`), and closes the simulator after the run. */
import type { Provider } from '../../sdk/assembly/options/provider.js';
import { ECHO_SCRIPT, loadScript } from '../../simulator/script.js';
import { startSimulator } from '../../simulator/start-simulator.js';
import type { RunFlags } from './run-flags.js';

export const withSimulator = async (
  { simulate }: RunFlags,
  run: (provider: Provider) => Promise<number>,
): Promise<number> => {
  const script = typeof simulate === 'string' ? await loadScript(simulate) : ECHO_SCRIPT;
  const simulator = await startSimulator({ script });
  try {
    return await run({ baseUrl: simulator.url, apiKey: 'simulated', authToken: undefined });
  } finally {
    await simulator.close();
  }
};
