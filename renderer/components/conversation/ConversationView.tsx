import { SegmentedControl } from '@mantine/core';
import { IconCheck, IconTool, IconX } from '@tabler/icons-react';
import { type RefObject, useEffect, useRef, useState } from 'react';
import {
  firstNewOf,
  type ShownCall,
  type ShownConversation,
  type ShownMessage,
  type ShownPart,
  type ShownTool,
} from '../../../server/contract/conversation/read-conversation.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { Medium } from '../body/BodyView.tsx';
import { withIndexKeys } from '../lists/with-index-keys.ts';
import { AnswerText } from '../text/AnswerText.tsx';
import classes from './Conversation.module.css';

/**
 * The messages by role, with each tool call beside its result, opened where the newest turn begins. The model's text is
 * rendered as Markdown, or shown unprocessed.
 */
export function ConversationView({ conversation: { messages, tools } }: { conversation: ShownConversation }) {
  const [isRaw, setRaw] = useState(false);
  const hasAnswers = messages.some(
    ({ role, parts }) => role === 'assistant' && parts.some(({ kind }) => kind === 'text'),
  );
  return (
    <div className={classes.conversation}>
      {hasAnswers && <ModeSwitch isRaw={isRaw} onChange={setRaw} />}
      {tools.length > 0 && <Tools tools={tools} />}
      <Messages messages={messages} isRaw={isRaw} />
    </div>
  );
}

/**
 * Messages of a long conversation shown besides its first one. More are added in steps, because thousands at once would
 * take long.
 */
const firstShown = 40;
const moreShown = 200;

function Messages({ messages, isRaw }: { messages: readonly ShownMessage[]; isRaw: boolean }) {
  const { messages: texts, formats } = useLocalization();
  const [shown, setShown] = useState(firstShown);
  const hidden = Math.max(0, messages.length - 1 - shown);
  const newestRef = useRef<HTMLLIElement>(null);
  useScrollTo(newestRef);
  const firstNew = firstNewOf(messages);
  const newest = firstNew === null ? null : messages[firstNew];
  const all = withIndexKeys(messages);
  const draw = ({ key, value }: (typeof all)[number]) => (
    <Message key={key} message={value} isRaw={isRaw} newRef={value === newest ? newestRef : null} />
  );
  return (
    <ol className={classes.messages}>
      {all.slice(0, 1).map(draw)}
      {hidden > 0 && (
        <li>
          <button type="button" className={classes.more} onClick={() => setShown(shown + moreShown)}>
            {texts.inspector.showEarlier(formats.number(hidden))}
          </button>
        </li>
      )}
      {all.slice(1 + hidden).map(draw)}
    </ol>
  );
}

/** Scrolls to an element once it is there, but for its margin, and nothing but the panel or dialog that it is in. */
function useScrollTo(elementRef: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = elementRef.current;
    const box = element && scrollerOf(element);
    if (!element || !box) return;
    const room = Number.parseFloat(getComputedStyle(element).scrollMarginTop);
    box.scrollTop += element.getBoundingClientRect().top - box.getBoundingClientRect().top - room;
  }, [elementRef]);
}

/** The box around an element that scrolls; null if the whole page does. */
function scrollerOf(element: HTMLElement): HTMLElement | null {
  for (let box = element.parentElement; box && box !== document.documentElement; box = box.parentElement) {
    if (box.scrollHeight > box.clientHeight && /auto|scroll/.test(getComputedStyle(box).overflowY)) return box;
  }
  return null;
}

interface ModeSwitchProps {
  isRaw: boolean;
  onChange(isRaw: boolean): void;
}

/** Whether answers are rendered or shown as they came. */
export function ModeSwitch({ isRaw, onChange }: ModeSwitchProps) {
  const { answersAs, answerModes } = useLocalization().messages.inspector;
  return (
    <SegmentedControl
      className={classes.mode}
      size="xs"
      aria-label={answersAs}
      value={isRaw ? 'raw' : 'read'}
      onChange={(value) => onChange(value === 'raw')}
      data={[
        { value: 'read', label: answerModes.read },
        { value: 'raw', label: answerModes.raw },
      ]}
    />
  );
}

function Tools({ tools }: { tools: readonly ShownTool[] }) {
  const { messages, formats } = useLocalization();
  return (
    <details className={classes.tools}>
      <summary>{messages.inspector.tools(tools.length, formats.number(tools.length))}</summary>
      <ul>
        {withIndexKeys(tools).map(({ key, value: { name, description } }) => (
          <li key={key}>
            <span className={classes.mono}>{name}</span> {description && <FoldedText text={description} />}
          </li>
        ))}
      </ul>
    </details>
  );
}

interface MessageProps {
  message: ShownMessage;
  isRaw: boolean;
  /** Set for the first message that the previous request did not have. */
  newRef: RefObject<HTMLLIElement | null> | null;
}

function Message({ message: { role, isAnswer, parts, stop }, isRaw, newRef }: MessageProps) {
  const names = useLocalization().messages.inspector;
  return (
    <li ref={newRef} className={`${classes.message} ${classes[role] ?? ''}`}>
      {newRef && <p className={classes.newMark}>{names.newMessages}</p>}
      <p className={classes.role}>
        {names.roles[role]}
        {isAnswer && <span className={classes.answer}>{names.answer}</span>}
        {stop !== null && <span className={classes.stop}>{names.stopped(stop)}</span>}
      </p>
      {parts.length === 0 && <p className={classes.soft}>{names.emptyAnswer}</p>}
      <Parts parts={parts} isMarkdown={role === 'assistant' && !isRaw} isBrief={role === 'system'} />
    </li>
  );
}

interface PartsProps {
  parts: readonly ShownPart[];
  isMarkdown?: boolean;
  /** Only the beginning of a text is of interest. */
  isBrief?: boolean;
}

function Parts({ parts, isMarkdown = false, isBrief = false }: PartsProps) {
  return withIndexKeys(parts).map(({ key, value }) => (
    <Part key={key} part={value} isMarkdown={isMarkdown} isBrief={isBrief} />
  ));
}

function Part({ part, isMarkdown, isBrief }: { part: ShownPart; isMarkdown: boolean; isBrief: boolean }) {
  const names = useLocalization().messages.inspector;
  switch (part.kind) {
    case 'text':
      return (
        <FoldedText
          text={part.text}
          format={isMarkdown ? 'markdown' : 'text'}
          longest={isBrief ? longestBriefText : longestText}
        />
      );
    case 'refusal':
      return (
        <div>
          <p className={classes.label}>{names.refusal}</p>
          <FoldedText text={part.text} />
        </div>
      );
    case 'thinking':
      return (
        <details className={classes.thinking}>
          <summary>{names.thinking}</summary>
          <FoldedText text={part.text} />
        </details>
      );
    case 'call':
      return <Call call={part} />;
    case 'result':
      return (
        <div className={classes.result}>
          <p className={classes.label}>{names.strayResult(part.callId)}</p>
          <Parts parts={part.parts} />
        </div>
      );
    case 'media':
      return (
        <p className={classes.media}>
          <Medium medium={part.medium} url={part.url} name={part.name} />
        </p>
      );
    case 'other':
      return (
        <details>
          <summary className={classes.mono}>{part.name}</summary>
          <FoldedText text={part.json} format="json" />
        </details>
      );
  }
}

function Call({ call: { name, input, result } }: { call: ShownCall }) {
  const names = useLocalization().messages.inspector;
  return (
    <div className={classes.call}>
      <p className={classes.label}>
        <IconTool size={14} aria-hidden /> <span className={classes.mono}>{name}</span>
      </p>
      <FoldedText text={prettyJson(input)} format="json" />
      {result && (
        <div className={classes.result}>
          <p className={classes.label}>
            {result.isError ? <IconX size={14} aria-hidden /> : <IconCheck size={14} aria-hidden />}{' '}
            {result.isError ? names.toolError : names.toolResult}
          </p>
          <Parts parts={result.parts} />
        </div>
      )}
    </div>
  );
}

function prettyJson(input: string): string {
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    return input;
  }
}

const longestText = 3_000;
/** Two lines are shown of what is longer. */
const longestBriefText = 320;

interface FoldedTextProps {
  text: string;
  format?: 'text' | 'json' | 'markdown';
  /** In characters. Half as many are shown of a longer text. */
  longest?: number;
}

/** Shows only the start of a long text until it is unfolded. */
function FoldedText({ text, format = 'text', longest = longestText }: FoldedTextProps) {
  const { messages, formats } = useLocalization();
  const [isOpen, setOpen] = useState(false);
  const isFolded = text.length > longest && !isOpen;
  const shown = isFolded ? `${text.slice(0, longest / 2)}…` : text;
  return (
    <div className={classes[format]}>
      {format === 'markdown' ? <AnswerText text={shown} /> : shown}
      {isFolded && (
        <button type="button" className={classes.more} onClick={() => setOpen(true)}>
          {messages.inspector.showRest(formats.number(text.length - longest / 2))}
        </button>
      )}
    </div>
  );
}
