/** Global setup: prepares the tools of the machine, and an environment without settings of the user. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { cleanEnvironment } from './environment.js';
import { type Missing, prepareTools } from './tools.js';

declare module 'vitest' {
  interface ProvidedContext {
    missingTools: Missing;
    /** Directory of this run. Each test file has its own home inside it. */
    runDirectory: string;
  }
}

export default function setup(project: TestProject) {
  project.provide('missingTools', prepareTools());
  const runDirectory = mkdtempSync(join(tmpdir(), 'skein-test-'));
  project.provide('runDirectory', runDirectory);
  // After the tools, because installing them may need the proxy that the tests must not see. Workers inherit this.
  const clean = cleanEnvironment(process.env, runDirectory);
  for (const name of Object.keys(process.env)) if (!(name in clean)) delete process.env[name];
  Object.assign(process.env, clean);
  return () => rmSync(runDirectory, { recursive: true, force: true, maxRetries: 3 });
}
