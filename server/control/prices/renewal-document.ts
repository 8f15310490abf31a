/** What was read of the public tables: a document that outlives a restart. */
import { z } from 'zod';
import { type PriceAmounts, priceFieldNames, priceFields } from '../../contract/price-views.ts';

/** `fetch` over the gateway's own transport, which follows no redirects. */
export type FetchTable = (
  address: string,
  options: { headers: Record<string, string>; signal: AbortSignal },
) => Promise<Response>;

const moment = z.number().int().nonnegative();
const renewedSchema = z.array(
  z.object({
    preset: z.string(),
    entry: z.string(),
    amounts: z.partialRecord(z.enum(priceFieldNames), z.number().nonnegative()),
  }),
);
const reading = { triedAt: moment.nullable(), checkedAt: moment.nullable(), failure: z.string().nullable() };
export const documentSchema = z.object({
  version: z.literal(1),
  prices: z.object({
    ...reading,
    etag: z.string().nullable(),
    /** The day of `renewed`. */
    date: z.string().nullable(),
    renewed: renewedSchema,
    /** Read, but not in force. */
    waiting: renewedSchema,
  }),
  rates: z.object({ ...reading, date: z.string().nullable(), perDollar: z.record(z.string(), z.number().positive()) }),
});
export type RenewalDocument = z.infer<typeof documentSchema>;

const never = { triedAt: null, checkedAt: null, failure: null, date: null };
export const nothingRead: RenewalDocument = {
  version: 1,
  prices: { ...never, etag: null, renewed: [], waiting: [] },
  rates: { ...never, perDollar: {} },
};

export const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Entries of services other than the makers of models start with the preset. */
export function modelOf(preset: string, entry: string): string {
  return entry.startsWith(`${preset}/`) ? entry.slice(preset.length + 1) : entry;
}

/** More than this is taken for a mistake of the table. */
const mostTimes = 5;

/** A price falls to 0, vanishes, or changes more than fivefold. */
export function isImplausible(before: PriceAmounts, after: PriceAmounts): boolean {
  return priceFieldNames.some((field) => {
    const [old, now] = [before[field], after[field]];
    // Factors come and go with the prices that they are taken from.
    const isPrice = priceFields[field] !== 'count' && priceFields[field] !== 'factor';
    if (!isPrice || old === undefined || old === 0) return false;
    return now === undefined || now === 0 || now / old > mostTimes || old / now > mostTimes;
  });
}
