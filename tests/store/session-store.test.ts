import type { Clock } from '../../src/protocol/clock.js';
import { MemorySessionStore } from '../../src/store/memory/memory-session-store.js';
import { describeEventIndex } from './contracts/event-index.js';
import { describeFencing, describeJournals } from './contracts/journals.js';
import { describeSessionStore } from './contracts/session-store.js';
import { sessionFiles, temporaryFolder } from './session-folder.js';

const inFiles = (clock: Clock) => sessionFiles(temporaryFolder(), { alive: ['owner-1'], clock });
const inMemory = (clock: Clock) => new MemorySessionStore(clock);

for (const describePort of [describeSessionStore, describeJournals, describeEventIndex]) {
  describePort('in files', inFiles);
  describePort('in memory', inMemory);
}

describeFencing('in files', (clock) => {
  const root = temporaryFolder();
  const alive = ['owner-1', 'owner-2'];
  return {
    first: sessionFiles(root, { pid: 1, alive, clock }),
    second: sessionFiles(root, { pid: 2, alive, clock }),
    loseFirst: () => void alive.shift(),
  };
});
