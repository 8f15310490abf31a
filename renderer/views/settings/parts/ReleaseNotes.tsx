import { useMessages } from '../../../messages/use-messages.ts';
import classes from './ReleaseNotes.module.css';
import { type NotesBlock, readNotes } from './read-notes.ts';

/** The release notes of an update. They come from outside, so nothing in them is interpreted as HTML. */
export function ReleaseNotes({ notes }: { notes: string }) {
  const { desktop: names } = useMessages().settings;
  return (
    <details className={classes.notes} open>
      <summary>{names.whatChanges}</summary>
      {readNotes(notes).map((block) => (
        <Block key={block.key} block={block} />
      ))}
    </details>
  );
}

function Block({ block }: { block: NotesBlock }) {
  if (block.type === 'list') {
    return (
      <ul>
        {block.items.map(({ key, text }) => (
          <li key={key}>{text}</li>
        ))}
      </ul>
    );
  }
  return block.type === 'heading' ? <h3>{block.text}</h3> : <p>{block.text}</p>;
}
