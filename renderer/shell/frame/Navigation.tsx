import { Link, useLocation } from 'wouter';
import { useMessages } from '../../messages/use-messages.ts';
import { screenAt } from '../screens/screens.ts';
import { useScreens } from '../screens/use-screens.ts';
import classes from './Navigation.module.css';

/** Links to all screens: a rail at the side, or a bar at the bottom of a narrow window. */
export function Navigation() {
  const { navigation, screens: names } = useMessages();
  const [path] = useLocation();
  const accessible = useScreens();
  const shown = accessible.filter(({ within }) => !accessible.some(({ name }) => name === within));
  const screen = screenAt(path);
  const current = shown.find(({ name }) => name === screen?.name || name === screen?.within)?.name;
  return (
    <nav className={classes.navigation} aria-label={navigation}>
      {shown.map((screen) => (
        <Link
          key={screen.name}
          href={screen.path}
          className={classes.link}
          title={names[screen.name]}
          aria-current={screen.name === current ? 'page' : undefined}
        >
          <screen.Icon className={classes.icon} size={20} stroke={1.7} aria-hidden />
          <span className={classes.name}>{names[screen.name]}</span>
        </Link>
      ))}
    </nav>
  );
}
