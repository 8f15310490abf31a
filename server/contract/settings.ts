/** What holds for the whole program, whoever asks for what. */
import { z } from 'zod';
import { milliseconds } from './policy.ts';

export const settingsSchema = z.strictObject({
  port: z.number().int().min(0).max(65_535).default(4810),
  host: z.string().min(1).default('127.0.0.1'),
  /** Names besides loopback that a request's Host header may bear. */
  allowedHosts: z.array(z.string().min(1)).default([]),
  /** Browser origins that may call `/v1`, such as `https://app.example`. */
  allowedOrigins: z.array(z.string().min(1)).default([]),
  /** The built-in demo provider: `auto` is on until the first provider is added. */
  demo: z.enum(['auto', 'on', 'off']).default('auto'),
  limits: z
    .strictObject({
      jsonBodyBytes: z
        .number()
        .int()
        .positive()
        .default(64 * 1024 * 1024),
      multipartBodyBytes: z
        .number()
        .int()
        .positive()
        .default(512 * 1024 * 1024),
    })
    .prefault({}),
  /** How much at the same time, from all keys together. What is more waits its turn, group by group and key by key. */
  admission: z
    .strictObject({
      /** Requests that run; any one group may take all of them but a tenth, and leaves some of its own to each of its keys. */
      running: z.number().int().positive().default(1_000),
      /** Requests that wait for a place; beyond that they are refused with 429. 0: none waits. */
      waiting: z.number().int().min(0).default(500),
      /** Longest wait. */
      waitMs: milliseconds.default(10_000),
      /** Bytes of bodies and whole answers held in memory. 0: a quarter of the machine's memory, at most 2 GB. */
      bytes: z.number().int().min(0).default(0),
    })
    .prefault({}),
  /** Comments sent while an upstream's stream is silent, so that nothing between closes the connection. 0: none. */
  keepAliveCommentMs: z.number().int().min(0).default(15_000),
  /** Tell on each reply who answered and after how many attempts: `x-sluice-provider`, `x-sluice-attempts`. */
  replyHeaders: z.boolean().default(true),
  ledger: z
    .strictObject({
      retentionDays: z.number().int().positive().default(90),
      retentionRows: z.number().int().positive().default(1_000_000),
    })
    .prefault({}),
  capture: z
    .strictObject({
      maxBytes: z
        .number()
        .int()
        .positive()
        .default(256 * 1024),
      retentionDays: z.number().int().positive().default(7),
    })
    .prefault({}),
  /** Which provider made a video or a stored response is forgotten once nobody has asked for it for so long. */
  jobs: z.strictObject({ retentionDays: z.number().int().positive().default(30) }).prefault({}),
  /** PEM files with more certificate authorities. */
  extraCaFiles: z.array(z.string().min(1)).default([]),
  /** Trust the certificate authorities of the operating system too. */
  systemCa: z.boolean().default(true),
  /** Hosts that are reached without a proxy, besides those of NO_PROXY and written as there. */
  noProxy: z.array(z.string().min(1)).default([]),
  /** Price overrides in US dollars, by model name or `provider/model`; see `server/usage/prices.json` for the units. */
  prices: z.record(z.string(), z.record(z.string(), z.number().nonnegative())).default({}),
});

export type Settings = z.infer<typeof settingsSchema>;
