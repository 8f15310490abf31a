import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { z } from 'zod';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { describeFileProblem, systemErrorCode } from '../ground/files/file-problem.ts';
import { createSerialQueue } from '../ground/serial-queue.ts';
import type { KnownModels } from './model-watch.ts';

const cachedSchema = z.object({
  /** A list is valid only for the address it came from. */
  baseUrl: z.string(),
  fetchedAt: z.int().nonnegative(),
  models: z.array(
    z.tuple([
      z.string().min(1).max(256),
      z.object({ created: z.int(), ownedBy: z.string(), contextTokens: z.int().exactOptional() }),
    ]),
  ),
});
const fileSchema = z.object({ version: z.literal(1), providers: z.record(z.string(), cachedSchema) });

/**
 * Keeps discovered models across restarts. Losing the cache costs one request per provider, so errors are only logged.
 */
interface ModelCache {
  get(providerId: string, baseUrl: string): KnownModels | null;
  put(providerId: string, baseUrl: string, models: KnownModels): void;
  /** Forgets all other providers, because they were removed. */
  keepOnly(providerIds: ReadonlySet<string>): void;
  /** Resolves once everything is on disk. */
  settled(): Promise<void>;
}

/** Reads the file synchronously, once. `path` null: no file. */
export function openModelCache(path: string | null, log: Logger): ModelCache {
  const inTurn = createSerialQueue();
  const logProblem = (error: unknown) => {
    log.warn({ path, problem: problemOf(error) }, 'the cache of discovered models cannot be used');
  };
  const providers = path === null ? {} : readFile(path, logProblem);
  const write = (path: string) => {
    const text = JSON.stringify({ version: 1, providers });
    inTurn(() => writeFileDurably(path, text)).catch(logProblem);
  };
  return {
    get(providerId, baseUrl) {
      const cached = providers[providerId];
      if (cached?.baseUrl !== baseUrl) return null;
      return { fetchedAt: cached.fetchedAt, models: new Map(cached.models) };
    },
    put(providerId, baseUrl, { fetchedAt, models }) {
      if (path === null) return;
      providers[providerId] = { baseUrl, fetchedAt, models: [...models] };
      write(path);
    },
    keepOnly(providerIds) {
      const removed = Object.keys(providers).filter((id) => !providerIds.has(id));
      if (path === null || removed.length === 0) return;
      for (const id of removed) delete providers[id];
      write(path);
    },
    settled: () => inTurn(async () => {}),
  };
}

function readFile(path: string, logProblem: (error: unknown) => void): Record<string, z.infer<typeof cachedSchema>> {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).providers;
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') logProblem(error);
    return {};
  }
}

function problemOf(error: unknown): string {
  return error instanceof z.ZodError ? 'its format is invalid' : describeFileProblem(error);
}
