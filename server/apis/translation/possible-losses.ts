/** Predicts what a translation between two APIs would lose, without a request. */
import { GatewayError } from '../../contract/errors.ts';
import type { LossNote } from '../../contract/loss-codes.ts';
import type { UpstreamWireName, WireName } from '../neutral/conversation.ts';
import { noteLosses } from './report-losses.ts';
import { wireTranslations } from './translation-registry.ts';
import { createTranslator } from './translator.ts';

interface PossibleLosses {
  dropped: LossNote[];
  emulated: LossNote[];
}

/** Losses of request fields, for a model given by its upstream name. Losses of messages depend on their content. */
export function possibleLosses(client: WireName, upstream: UpstreamWireName, model: string): PossibleLosses {
  const translator = createTranslator(client, upstream);
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
