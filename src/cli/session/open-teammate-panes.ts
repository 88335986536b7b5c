/**
 * Opens a tmux pane for each teammate. A pane only follows the log: the teammate runs in this
 * process, and closing a pane stops no agent.
 */
import { dirname, join } from 'node:path';
import { openTmuxPane } from '../../host/process/open-tmux-pane.js';
import type { HostSession } from '../../sdk/assembly/open-host-session.js';
import type { HostEnvironment } from '../../sdk/assembly/options/host-environment.js';

export const openTeammatePanes = (
  { session, settings }: HostSession,
  host: HostEnvironment,
): void => {
  const { env, cwd, watchdog, notify } = host;
  const { TMUX, TMUX_PANE: pane } = env;
  if (TMUX === undefined || pane === undefined) {
    notify('This terminal is not in tmux, so teammates get no panes.');
    return;
  }
  const [node = process.execPath, program = ''] = watchdog;
  const skein = join(dirname(program), 'skein.cjs');
  session.listen((item) => {
    if (item.type !== 'agent.spawned' || item.agent.kind !== 'teammate') return;
    const command = [node, skein, 'logs', item.agent.id, '--follow'] as const;
    const variables = { SKEIN_HOME: settings.skeinHome };
    openTmuxPane({ beside: pane, command: [...command], cwd, variables, environment: env }).catch(
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        notify(`tmux opened no pane for ${item.agent.name ?? item.agent.id}: ${reason}`);
      },
    );
  });
};
