import { Modal } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { RequestInFull } from '../../../../server/contract/request-views.ts';
import type { MissingRequest, SentRequest } from '../../../../server/contract/sent-request.ts';
import { useMessages } from '../../../messages/use-messages.ts';
import { CaptureButton } from '../CaptureAbsent.tsx';
import { CompareModels } from './CompareModels.tsx';
import classes from './SendAgain.module.css';
import { SendAgain } from './SendAgain.tsx';

/** As it was, with its body shown for editing, or to several models. */
export type SendMode = 'again' | 'edit' | 'compare';

interface SendDialogProps {
  /** Null: it is closed. */
  mode: SendMode | null;
  sent: SentRequest;
  shown: RequestInFull;
  onClose(): void;
}

/** To send a request again; where it was not kept, why, and how the next ones are. */
export function SendDialog({ mode, sent, shown, onClose }: SendDialogProps) {
  const { inspector: names, close } = useMessages();
  const isNarrow = useMediaQuery('(max-width: 799px)', false, { getInitialValueInEffect: false });
  return (
    <Modal
      opened={mode !== null}
      onClose={onClose}
      title={mode === 'compare' ? names.compare.title : names.sendAgain}
      size={980}
      fullScreen={isNarrow}
      closeOnClickOutside={false}
      // The keys of the panel know where Escape would lose what was typed.
      closeOnEscape={false}
      closeButtonProps={{ 'aria-label': close }}
      transitionProps={{ duration: 0 }}
      attributes={{ header: { role: 'presentation' } }}
      styles={{ title: { fontWeight: 600, fontSize: 'var(--mantine-font-size-lg)' } }}
    >
      {sent.kind === 'missing' ? (
        <Missing missing={sent} />
      ) : mode === 'compare' ? (
        <CompareModels sent={sent} />
      ) : (
        <SendAgain sent={sent} shown={shown} isEdited={mode === 'edit'} />
      )}
    </Modal>
  );
}

function Missing({ missing: { why, request } }: { missing: MissingRequest }) {
  const { inspector: names, requests } = useMessages();
  const reasons = { ...requests.captureGaps, ...requests.captureAbsences, 'not-text': names.notText };
  return (
    <div className={classes.missing}>
      <p>{names.nothingToSend}</p>
      <p>{reasons[why]}</p>
      <CaptureButton keyId={request.keyId} />
    </div>
  );
}
