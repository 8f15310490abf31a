import { useLocation } from 'wouter';
import { SessionDetail } from './SessionDetail.tsx';
import { SessionList } from './SessionList.tsx';

/** The list of sessions, or the session in the address. */
export function Sessions() {
  const [path] = useLocation();
  const [, , id] = path.split('/');
  return id ? <SessionDetail key={id} id={decodeURIComponent(id)} /> : <SessionList />;
}
