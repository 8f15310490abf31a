import { ActionIcon, Button, Modal, Skeleton, Stack, Textarea } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconChevronDown, IconChevronUp, IconPin, IconPinFilled, IconX } from '@tabler/icons-react';
import { type FormEvent, Fragment, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { nameOfClient } from '../../../../server/contract/known-clients.ts';
import { longestNote } from '../../../../server/contract/pins.ts';
import type { PinView, RequestInFull, RequestView } from '../../../../server/contract/request-views.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { withIndexKeys } from '../../../components/lists/with-index-keys.ts';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { type CommandRunner, useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useNameOf } from '../../../state/control/use-found.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { unsavedEdits } from '../../../state/edits/unsaved-edits.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import { gistOf } from '../facts/usage-amounts.ts';
import { usePanelKeys, withPanelKeys } from '../keyboard/use-panel-keys.ts';
import { Outcome } from '../list/RequestRow.tsx';
import type { SendMode } from '../send-again/SendDialog.tsx';
import { SendMenu } from '../send-again/SendMenu.tsx';
import { RequestDetail, useTab } from './RequestDetail.tsx';
import classes from './RequestPanel.module.css';

interface RequestPanelProps {
  id: string;
  onClose(): void;
  /** Opens the request below in the list; null at its end. */
  onNext: (() => void) | null;
  /** Opens the request above; null at the start. */
  onPrevious: (() => void) | null;
}

/** The details of one request: beside the list if there is room, otherwise over it. */
export function RequestPanel(props: RequestPanelProps) {
  const { requests: names } = useMessages();
  const isBeside = useMediaQuery('(min-width: 1280px)', true, { getInitialValueInEffect: false });
  const panelRef = useRef<HTMLElement>(null);
  // The dialog belongs to its request and does not open for another one.
  const [opened, setOpened] = useState<{ id: string; mode: SendMode } | null>(null);
  const dialog = opened?.id === props.id ? opened.mode : null;
  const setDialog = (mode: SendMode | null) =>
    unsavedEdits.confirmThen(() => setOpened(mode && { id: props.id, mode }));
  usePanelKeys({ ...props, onCloseDialog: dialog && (() => setDialog(null)) });
  useFocusWhileOpen(panelRef, props.id);
  if (isBeside) {
    return (
      <aside className={classes.panel} aria-label={names.detail} ref={panelRef} tabIndex={-1}>
        <PanelContent {...props} dialog={dialog} onDialog={setDialog} />
      </aside>
    );
  }
  return (
    <Modal.Root opened onClose={props.onClose} closeOnEscape={false} fullScreen returnFocus={false} {...withoutMotion}>
      <Modal.Content aria-label={names.detail} {...withPanelKeys}>
        <Modal.Body p={0} className={classes.sheet} tabIndex={-1} data-autofocus>
          <PanelContent {...props} dialog={dialog} onDialog={setDialog} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

const withoutMotion = { transitionProps: { duration: 0 } };

/** Focuses the panel when it opens, and the row of the request when it closes. */
function useFocusWhileOpen(elementRef: RefObject<HTMLElement | null>, id: string): void {
  const lastId = useRef(id);
  lastId.current = id;
  useEffect(() => {
    elementRef.current?.focus({ preventScroll: true });
    return () => {
      focusWhenThere(`a[href^="#/requests/${CSS.escape(encodeURIComponent(lastId.current))}"]`);
    };
  }, [elementRef]);
}

/** The number of frames within which the list must have rendered the row. */
const mostFrames = 10;

function focusWhenThere(selector: string, frames = mostFrames): void {
  requestAnimationFrame(() => {
    const element = document.querySelector<HTMLElement>(selector);
    if (element) element.focus();
    else if (frames > 0) focusWhenThere(selector, frames - 1);
  });
}

interface PanelContentProps extends RequestPanelProps {
  dialog: SendMode | null;
  onDialog(mode: SendMode | null): void;
}

function PanelContent({ id, onClose, onNext, onPrevious, dialog, onDialog }: PanelContentProps) {
  const { inspector: names, close } = useMessages();
  // Queried again when the request has ended, and when one is pinned here or elsewhere.
  const outcome = useControlState((state) => state.requests.find((request) => request.id === id)?.outcome ?? null);
  const pinning = useCommand();
  const pinCount = useControlState((state) => state.pinCount);
  const { answer, problem } = useQuery<'request'>({ type: 'request', id }, `${outcome} ${pinCount}`);
  const full = answer?.request.id === id ? answer : null;
  return (
    <>
      <div className={classes.head}>
        {full ? <Headline request={full.request} /> : <span className={classes.headline} />}
        <div className={classes.headActs}>
          {full && full.request.outcome !== null && <PinButton full={full} command={pinning} />}
          {full && <SendMenu full={full} dialog={dialog} onDialog={onDialog} />}
          <HeadAct label={names.previous} keys="K" onClick={onPrevious} icon={<IconChevronUp size={18} />} />
          <HeadAct label={names.next} keys="J" onClick={onNext} icon={<IconChevronDown size={18} />} />
          <HeadAct label={close} keys="Esc" onClick={onClose} icon={<IconX size={18} />} />
        </div>
        {full && <Subject request={full.request} />}
        {full && <Gist full={full} />}
        {pinning.problem && <CommandProblem problem={pinning.problem} />}
        {full?.pin && <PinNote key={id} id={id} pin={full.pin} />}
      </div>
      <div className={classes.content}>
        {full && <RequestDetail key={id} full={full} />}
        {!full && problem && <CommandProblem problem={problem} />}
        {!full && !problem && (
          <Stack aria-busy="true">
            <Skeleton height={20} width="60%" />
            <Skeleton height={90} />
            <Skeleton height={120} />
          </Stack>
        )}
      </div>
    </>
  );
}

function Headline({ request }: { request: RequestView }) {
  const { method, route } = request;
  return (
    <>
      <span className={classes.outcome}>
        <Outcome request={request} />
      </span>
      <h2 className={`${classes.headline} ${classes.mono}`}>
        {method}{' '}
        {withIndexKeys(route.split(/(?=\/)/)).map(({ key, value }) => (
          // A long one is broken between its parts.
          <Fragment key={key}>
            <wbr />
            {value}
          </Fragment>
        ))}
      </h2>
    </>
  );
}

/** The model, who answered and who asked, as far as it is known. */
function Subject({ request: { modelAsked, modelServed, provider, client, keyId } }: { request: RequestView }) {
  const { subject: names } = useMessages().inspector;
  const providerName = useProviderName();
  const keyName = useNameOf('key', keyId);
  const isRenamed = modelServed !== null && modelAsked !== null && modelServed !== modelAsked;
  const model = isRenamed ? `${modelAsked} → ${modelServed}` : (modelAsked ?? modelServed);
  const by = provider && providerName(provider);
  const facts = [
    model && by ? names.via(model, by) : (model ?? by),
    client && nameOfClient(client),
    keyName && names.key(keyName),
  ].filter((fact) => fact !== null && fact !== '');
  return facts.length > 0 && <p className={classes.subject}>{facts.join(' · ')}</p>;
}

/** What matters most of any request, in sight whatever tab is open. */
function Gist({ full: { request, capture } }: { full: RequestInFull }) {
  const localization = useLocalization();
  const [, choose] = useTab(capture !== null);
  const { messages, formats } = localization;
  const facts = gistOf(request, localization);
  const losses = request.dropped.length + request.emulated.length;
  if (facts.length + losses === 0) return null;
  return (
    <p className={classes.gist}>
      {facts.map((fact, index) => (
        <Fragment key={fact}>
          {index > 0 && ' · '}
          <span className={classes.gistFact}>{fact}</span>
        </Fragment>
      ))}
      {losses > 0 && (
        <button type="button" className={classes.lossCount} onClick={() => choose('summary')}>
          {messages.inspector.gist.losses(formats.number(losses))}
        </button>
      )}
    </p>
  );
}

interface HeadActProps {
  label: string;
  /** The shortcut for the same action. */
  keys: string;
  icon: ReactNode;
  onClick: (() => void) | null;
}

function HeadAct({ label, keys, icon, onClick }: HeadActProps) {
  return (
    <ActionIcon
      className={classes.headAct}
      variant="subtle"
      color="gray"
      aria-label={label}
      title={`${label} (${keys})`}
      disabled={onClick === null}
      onClick={onClick ?? undefined}
    >
      {icon}
    </ActionIcon>
  );
}

interface PinButtonProps {
  full: RequestInFull;
  command: CommandRunner;
}

/** Pins a request, or no longer. */
function PinButton({ full: { request, pin }, command }: PinButtonProps) {
  const { pins: names } = useMessages().requests;
  const label = pin ? names.unpin : names.pin;
  return (
    <ActionIcon
      className={classes.headAct}
      variant="subtle"
      color={pin ? 'water' : 'gray'}
      aria-label={label}
      aria-pressed={pin !== null}
      title={label}
      onClick={() => void command.run({ type: pin ? 'request.unpin' : 'request.pin', id: request.id })}
    >
      {pin ? <IconPinFilled size={18} /> : <IconPin size={18} />}
    </ActionIcon>
  );
}

interface PinNoteProps {
  id: string;
  pin: PinView;
}

/** The note of a pinned request, which can be edited in its place. */
function PinNote({ id, pin }: PinNoteProps) {
  const { requests, cancel } = useMessages();
  const { pins: names } = requests;
  const command = useCommand();
  const [draft, setDraft] = useState<string | null>(null);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (await command.run({ type: 'request.pin', id, note: draft ?? '' })) setDraft(null);
  };
  if (draft === null) {
    return (
      <p className={classes.pinNote}>
        <span className={classes.pinText}>{pin.note ?? names.kept}</span>
        <Button size="compact-xs" variant="subtle" onClick={() => setDraft(pin.note ?? '')}>
          {pin.note === null ? names.addNote : names.editNote}
        </Button>
      </p>
    );
  }
  return (
    <form className={classes.pinForm} onSubmit={(event) => void save(event)}>
      <Textarea
        aria-label={names.note}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={longestNote}
        value={draft}
        autoFocus
        onChange={({ currentTarget }) => setDraft(currentTarget.value)}
      />
      <div className={classes.pinActs}>
        <Button size="compact-xs" type="submit" loading={command.isRunning}>
          {names.save}
        </Button>
        <Button size="compact-xs" variant="default" onClick={() => setDraft(null)}>
          {cancel}
        </Button>
      </div>
      {command.problem && <CommandProblem problem={command.problem} />}
    </form>
  );
}
