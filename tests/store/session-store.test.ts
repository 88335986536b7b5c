import { SessionMemory } from '../../src/store/session-memory.js';
import { describeSessionStore } from './contracts/session-store.js';
import { sessionFiles, temporaryFolder } from './session-folder.js';

describeSessionStore('in files', (clock) =>
  sessionFiles(temporaryFolder(), { alive: ['owner-1'], clock }),
);

describeSessionStore('in memory', (clock) => new SessionMemory(clock));
