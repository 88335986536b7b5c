/** Global setup of the fast tests: a clean environment and a directory of this run. Looks for no tools. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { cleanEnvironment } from './environment.js';

export default function setup(project: TestProject) {
  const runDirectory = mkdtempSync(join(tmpdir(), 'skein-test-'));
  project.provide('runDirectory', runDirectory);
  const clean = cleanEnvironment(process.env, runDirectory);
  for (const name of Object.keys(process.env)) if (!(name in clean)) delete process.env[name];
  Object.assign(process.env, clean);
  return () => rmSync(runDirectory, { recursive: true, force: true, maxRetries: 3 });
}
