/**
 * Plugin of the bundler: evaluates each module of DEFERRED when an importer first uses one of its exports, and not with
 * its importers. The program evaluates the modules that are left while its first answer is awaited
 * (src/lib/load-deferred-modules.ts), so that no later step waits for a module.
 */
import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';

/** Modules that the first request does not need, and through which most such modules are imported. */
export const DEFERRED = new Set([
  'src/actors/calls/run-tool.ts',
  'src/actors/checkpoints/workspace-manifest.ts',
  'src/actors/checkpoints/workspace-scanner.ts',
  'src/actors/hooks/hook-runner.ts',
  'src/actors/messages/send-team-message.ts',
  'src/actors/permissions/replaced-file.ts',
  'src/actors/remote/remote-dispatch.ts',
  'src/actors/remote/remote-event-poller.ts',
  'src/actors/spawn/build-child.ts',
  'src/actors/worktrees/merge-back.ts',
  'src/cli/print/can-use-tool-request.ts',
  'src/cli/print/control-protocol.ts',
  'src/config/agents/parse-yaml.ts',
  'src/config/agents/read-agents-flag.ts',
  'src/host/git/git-clone.ts',
  'src/host/git/git-command.ts',
  'src/host/process/shell-job.ts',
  'src/host/search/javascript-engine.ts',
  'src/host/search/ripgrep-engine.ts',
  'src/host/search/tree-walk.ts',
  'src/host/web/is-private-address.ts',
  'src/host/web/web-exchange.ts',
  'src/host/worktrees/settle-worktree.ts',
  'src/machines/child-machine.ts',
  'src/model/to-model-failure.ts',
  'src/policy/hooks/hook-output.ts',
  'src/policy/policy-facts.ts',
  'src/policy/policy.ts',
  'src/policy/rules/command-rule.ts',
  'src/policy/ruling-reason.ts',
  'src/policy/shell/reading/read-shell.ts',
  'src/prompt/cache-miss/explain-miss.ts',
  'src/protocol/agent/agent-mail.ts',
  'src/protocol/agent/letter-text.ts',
  'src/protocol/session/job-queue.ts',
  'src/protocol/session/question-board.ts',
  'src/sdk/lead-config/sign-handover.ts',
  'src/store/files/questions/file-questions.ts',
  'src/store/memory/memory-session-store.ts',
  'src/store/shared/change-shared-task.ts',
  'src/store/shared/parse-session-meta.ts',
  'src/terminal/text/sanitize.ts',
  'src/tools/agents/agent-report.ts',
]);

const REGISTRY = 'src/lib/load-deferred-modules.ts';

/** Modules of Node that are loaded when a function of theirs is first used. */
const NODE_MODULES = new Set([
  'async_hooks',
  'child_process',
  'crypto',
  'dns',
  'dns/promises',
  'fs/promises',
  'http',
  'https',
  'net',
  'perf_hooks',
  'readline',
  'stream/promises',
  'string_decoder',
  'timers/promises',
  'tty',
  'v8',
  'vm',
  'worker_threads',
  'zlib',
]);

const AT_ONCE =
  /src\/(?:cli\/(?:launch\.ts|compiled-code\/)|host\/process\/ownership\/watchdog\.ts)/;

const EXPORT = /^export (?:abstract )?(?:async )?(?:const|let|class|function\*?|enum) (\w+)/gm;
const EXPORT_LIST = /^export \{([^}]*)\}/gm;

/** Modules of Node that most sessions use after their first request. */
const LOADED_LATER = new Set(['child_process', 'crypto', 'fs/promises', 'timers/promises']);

const register = `require(${JSON.stringify(resolve(REGISTRY))}).deferModule(load);`;

export const namesOf = (text) => {
  const listed = [...text.matchAll(EXPORT_LIST)].flatMap(([, list]) =>
    list
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '' && !part.startsWith('type '))
      .map((part) => part.split(' as ').at(-1).trim()),
  );
  return [...[...text.matchAll(EXPORT)].map(([, name]) => name), ...listed];
};

const getters = (names, load) =>
  names.map((name) => `get ${name}() { return ${load}.${name}; }`).join(',\n');

export const deferModules = {
  name: 'defer-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, ({ path, importer, kind, namespace }) => {
      if (kind !== 'import-statement' || namespace !== 'file') return undefined;
      const target = resolve(dirname(importer), path).replace(/\.js$/, '.ts');
      const name = relative(process.cwd(), target);
      if (!DEFERRED.has(name)) return undefined;
      return { path: name, namespace: 'deferred' };
    });
    onLoad({ filter: /./, namespace: 'deferred' }, async ({ path }) => {
      const file = resolve(path);
      const names = namesOf(await readFile(file, 'utf8'));
      const contents = `
        let loaded;
        const load = () => (loaded ??= require(${JSON.stringify(file)}));
        ${register}
        module.exports = { ${getters(names, 'load()')} };`;
      return { contents, resolveDir: dirname(file) };
    });
    onResolve({ filter: /^node:/ }, ({ path, importer, namespace }) => {
      // The launcher and the watchdog use all of their modules at once.
      if (namespace === 'deferred-node' || AT_ONCE.test(importer)) return undefined;
      return NODE_MODULES.has(path.slice(5)) ? { path, namespace: 'deferred-node' } : undefined;
    });
    onLoad({ filter: /./, namespace: 'deferred-node' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter(
        (name) => /^[A-Za-z]\w*$/.test(name) && name !== 'default',
      );
      const loader = `
        let loaded;
        const load = () => (loaded ??= require('${path}'));
        ${LOADED_LATER.has(path.slice(5)) ? register : ''}`;
      return {
        contents: `${loader} module.exports = { ${getters(names, 'load()')} };`,
        resolveDir: process.cwd(),
      };
    });
  },
};
