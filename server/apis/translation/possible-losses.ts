/** Predicts what a translation between two APIs would lose, without a request. */
import { GatewayError } from '../../contract/errors.ts';
import type { LossNote } from '../../contract/loss-codes.ts';
import type { UpstreamWireName, WireName } from '../neutral/neutral.ts';
import { noteLosses } from './report-losses.ts';
import { translatorFor } from './translator.ts';
import { wireTranslations } from './wire-translations.ts';

interface PossibleLosses {
  dropped: LossNote[];
  emulated: LossNote[];
}

/** Losses of request fields, for a model given by its upstream name. Losses of messages depend on their content. */
export function possibleLosses(client: WireName, upstream: UpstreamWireName, model: string): PossibleLosses {
  const translator = translatorFor(client, upstream);
  if (!translator) return { dropped: [], emulated: [] };
  try {
    const parsed = translator.read(Buffer.from(JSON.stringify(wireTranslations[client].client.specimen)), {
      model,
      stream: false,
    });
    const { losses } = translator.request(parsed, { model, origin: { provider: '', model, account: '' } });
    return { dropped: noteLosses(losses, 'dropped'), emulated: noteLosses(losses, 'emulated') };
  } catch (error) {
    if (error instanceof GatewayError) return { dropped: [], emulated: [] };
    throw error;
  }
}
