import { SegmentedControl } from '@mantine/core';
import { IconCheck, IconTool, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { withIndexKeys } from '../../../components/lists/with-index-keys.ts';
import { AnswerText } from '../../../components/text/AnswerText.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import type {
  ShownCall,
  ShownConversation,
  ShownMessage,
  ShownPart,
  ShownTool,
} from '../../../state/captured/conversation.ts';
import classes from './Conversation.module.css';
import { Medium } from './Medium.tsx';

/**
 * The messages by role, with each tool call beside its result. The model's text is rendered as Markdown, or shown
 * unprocessed.
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
  const all = withIndexKeys(messages);
  const draw = ({ key, value }: (typeof all)[number]) => <Message key={key} message={value} isRaw={isRaw} />;
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

function ModeSwitch({ isRaw, onChange }: { isRaw: boolean; onChange(isRaw: boolean): void }) {
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

function Message({ message: { role, isAnswer, parts, stop }, isRaw }: { message: ShownMessage; isRaw: boolean }) {
  const names = useLocalization().messages.inspector;
  return (
    <li className={`${classes.message} ${classes[role] ?? ''}`}>
      <p className={classes.role}>
        {names.roles[role]}
        {isAnswer && <span className={classes.answer}>{names.answer}</span>}
        {stop !== null && <span className={classes.stop}>{names.stopped(stop)}</span>}
      </p>
      {parts.length === 0 && <p className={classes.soft}>{names.emptyAnswer}</p>}
      <Parts parts={parts} isMarkdown={role === 'assistant' && !isRaw} />
    </li>
  );
}

function Parts({ parts, isMarkdown = false }: { parts: readonly ShownPart[]; isMarkdown?: boolean }) {
  return withIndexKeys(parts).map(({ key, value }) => <Part key={key} part={value} isMarkdown={isMarkdown} />);
}

function Part({ part, isMarkdown }: { part: ShownPart; isMarkdown: boolean }) {
  const names = useLocalization().messages.inspector;
  switch (part.kind) {
    case 'text':
      return <FoldedText text={part.text} format={isMarkdown ? 'markdown' : 'text'} />;
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

/** Shows only the start of a long text until it is unfolded. */
function FoldedText({ text, format = 'text' }: { text: string; format?: 'text' | 'json' | 'markdown' }) {
  const { messages, formats } = useLocalization();
  const [isOpen, setOpen] = useState(false);
  const isFolded = text.length > longestText && !isOpen;
  const shown = isFolded ? `${text.slice(0, longestText / 2)}…` : text;
  return (
    <div className={classes[format]}>
      {format === 'markdown' ? <AnswerText text={shown} /> : shown}
      {isFolded && (
        <button type="button" className={classes.more} onClick={() => setOpen(true)}>
          {messages.inspector.showRest(formats.number(text.length - longestText / 2))}
        </button>
      )}
    </div>
  );
}
