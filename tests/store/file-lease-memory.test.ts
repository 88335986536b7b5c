import { FileLeaseMemory } from '../../src/store/file-lease-memory.js';
import { describeFileLeases } from './contracts/file-leases.js';

describeFileLeases('in memory', () => new FileLeaseMemory());
