/** What a gateway stands on: outbound transport, databases, and what is built on them alone. */
import { join } from 'node:path';
import { openAnswerCache } from './cache/open-answer-cache.ts';
import type { Usage } from './contract/ledger.ts';
import { type Database, openDatabase, type Replaced } from './database/database.ts';
import { budgetMigrations } from './database/schema.ts';
import { createSweepClock } from './database/sweep-clock.ts';
import { SessionBook } from './exchange/sessions/session-book.ts';
import { openCassettes } from './gateway-cassettes.ts';
import type { GatewayPorts } from './gateway-ports.ts';
import { createJobStore } from './jobs/job-store.ts';
import { keptResponseMigrations } from './kept-responses/kept-response-rows.ts';
import { SqliteResponseStore } from './kept-responses/response-store.ts';
import { createLedger } from './ledger/ledger.ts';
import { createReasoningStore } from './reasoning/reasoning-store.ts';
import { HealthBook } from './routing/health/health-book.ts';
import { HealthPicker } from './routing/health/health-picker.ts';
import type { Target } from './routing/snapshot.ts';
import { createAuthorities } from './transport/authorities.ts';
import { createTransport } from './transport/create-transport.ts';
import { followPrices } from './usage/follow-prices.ts';

/** Targets are compared by the price of this request; each model is charged only for what it counts. */
const typicalRequest: Usage = { inputTokens: 3_000, outputTokens: 1_000, seconds: 60, characters: 1_000, images: 1 };

export type Foundations = ReturnType<typeof openFoundations>;

export function openFoundations({ config, dataDir, log, proxies, cassette }: GatewayPorts) {
  const settings = () => config.current.config.settings;
  const authorities = createAuthorities(() => ({ system: settings().systemCa, files: settings().extraCaFiles }));
  const transport = createTransport({
    proxies: {
      ...proxies,
      get noProxy() {
        return [proxies.noProxy ?? '', ...settings().noProxy].join(',');
      },
    },
    authorities,
  });
  const fileOf = (name: string) => (dataDir === null ? ':memory:' : join(dataDir, name));
  const database = openDatabase(fileOf('ledger.sqlite'));
  const budgetDatabase = openDatabase(fileOf('budgets.sqlite'), budgetMigrations);
  const responseDatabase = openDatabase(fileOf('responses.sqlite'), keptResponseMigrations);
  for (const each of [database, budgetDatabase, responseDatabase]) tellReplacement(each, log);
  const sweepClock = createSweepClock(database);
  const ledger = createLedger({
    database,
    budgetDatabase,
    log,
    sweepClock,
    settings: () => {
      const { ledger: kept, capture } = settings();
      return { ...kept, captureRetentionDays: capture.retentionDays };
    },
  });
  const sessions = new SessionBook(ledger);
  const jobs = createJobStore({ database, log, sweepClock, retentionDays: () => settings().jobs.retentionDays });
  const keptResponses = new SqliteResponseStore({
    database: responseDatabase,
    log,
    sweepClock,
    settings: () => settings().keptResponses,
  });
  const reasoning = createReasoningStore({ database, log });
  const cache = openAnswerCache(config);
  const cassettes = openCassettes({ config, log, cassette });
  const health = new HealthBook({ nowMs: () => performance.now() });
  const prices = followPrices(config);
  const typicalPrice = ({ provider, model }: Target) =>
    model === null ? null : prices.cost(provider.id, model, typicalRequest);
  return {
    transport,
    authorities,
    ledger,
    sessions,
    jobs,
    keptResponses,
    reasoning,
    cache,
    cassettes,
    health,
    prices,
    typicalPrice,
    picker: new HealthPicker({ health, typicalPrice }),
    async close() {
      await cassettes.close();
      await transport.close();
      jobs.close();
      keptResponses.close();
      reasoning.close();
      ledger.close();
      budgetDatabase.close();
      responseDatabase.close();
      database.close();
    },
  };
}

function tellReplacement(database: Database, log: GatewayPorts['log']): void {
  const tell = (replaced: Replaced) => log.error(replaced, 'a database was unusable or missing; a new one was created');
  if (database.notice) tell(database.notice);
  database.onReplaced(tell);
}
