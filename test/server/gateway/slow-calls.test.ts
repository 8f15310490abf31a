import { describe } from 'vitest';
import { startGateway } from '../../support/gateway.ts';
import { describeSlowCalls } from './streams.ts';

describe('calls of two seconds with the store in SQLite', () =>
  describeSlowCalls((config) => startGateway({ config })));
