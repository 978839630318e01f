import { ActionIcon } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { Link, Outlet, useRouter, useRouterState } from '@tanstack/react-router'
import { Menu as MenuIcon, type LucideIcon } from 'lucide-react'
import { Suspense, useEffect, useRef, type ReactNode, type RefObject } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import { useIsEnlarged } from '../components/use-is-enlarged.ts'
import { Breadcrumbs } from './breadcrumbs.tsx'
import { navTexts } from './nav-texts.ts'

const NavDrawer = lazyPart(() => import('./nav-drawer.tsx'), 'NavDrawer')

interface FrameProps {
  readonly navigation: ReactNode
  /** At the end of the bar on top. */
  readonly tools: ReactNode
  /** Between the bar and the page; at the top of the page if the window is enlarged. */
  readonly banner?: ReactNode
  /** Whether the page is not shown yet. */
  readonly isWaiting?: boolean
}

/** The frame around every page: navigation on the left, or in a drawer on narrow screens, and a bar on top. */
export function Frame({ navigation, tools, banner, isWaiting = false }: FrameProps) {
  const [isNavOpen, nav] = useDisclosure(false)
  const isNarrow = useMediaQuery('(max-width: 767px)', undefined, { getInitialValueInEffect: false })
  const path = useRouterState({ select: (state) => state.location.pathname })
  const isEnlarged = useIsEnlarged()
  const main = useRef<HTMLElement>(null)
  const menu = useRef<HTMLButtonElement>(null)
  useEffect(() => nav.close(), [path])
  useFocusOfPages(main)
  return (
    <div className="shell">
      <a className="skip" href="#content" onClick={(event) => focusContent(event, main.current)}>
        Skip to content
      </a>
      {isNarrow ? (
        <Suspense>
          <NavDrawer
            isOpen={isNavOpen}
            onClose={nav.close}
            onClosed={(isLeft) => giveFocus(isLeft ? main.current : menu.current)}
          >
            {navigation}
          </NavDrawer>
        </Suspense>
      ) : (
        <div className="rail">{navigation}</div>
      )}
      <div className="column">
        <header className="bar">
          {isNarrow ? (
            <ActionIcon ref={menu} aria-label={navTexts.open} aria-expanded={isNavOpen} onClick={nav.open}>
              <MenuIcon size={18} />
            </ActionIcon>
          ) : null}
          <Breadcrumbs />
          <div className="bar-end">{tools}</div>
        </header>
        {isEnlarged ? null : banner}
        <main id="content" data-scroll-restoration-id="content" tabIndex={-1} ref={main} className="content">
          {isEnlarged ? banner : null}
          <Suspense>{isWaiting ? null : <Outlet />}</Suspense>
        </main>
      </div>
    </div>
  )
}

/** A link to an anchor would change the address, which is that of the page. */
function focusContent(event: React.MouseEvent, content: HTMLElement | null): void {
  event.preventDefault()
  content?.focus()
}

/** A new page has the focus, as one that a browser loads: keys scroll it, and Tab goes to its first control. */
function useFocusOfPages(main: RefObject<HTMLElement | null>): void {
  const router = useRouter()
  useEffect(
    () =>
      router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
        const isInDialog = document.activeElement?.closest('[role="dialog"]') != null
        if (fromLocation !== undefined && pathChanged && !isInDialog) giveFocus(main.current)
      }),
    [router, main],
  )
}

/** What a page has focused itself keeps the focus. */
function giveFocus(element: HTMLElement | null): void {
  if (document.activeElement?.closest('#content') == null) element?.focus({ preventScroll: true })
}

/** The name of the service, at the top of the navigation. */
export function Brand({ name, mode }: { readonly name: string; readonly mode?: string }) {
  return (
    <span className="brand">
      <span className="brand-mark" aria-hidden>
        {name.trim().slice(0, 1).toUpperCase()}
      </span>
      <span className="brand-name" dir="auto">
        {name}
      </span>
      {mode === undefined ? null : <span className="brand-mode">{mode}</span>}
    </span>
  )
}

interface PageLinksProps {
  readonly entries: readonly { readonly path: string; readonly title: string; readonly icon?: LucideIcon }[]
}

/** Links of the navigation. */
export function PageLinks({ entries }: PageLinksProps) {
  return (
    <ul>
      {entries.map(({ path, title, icon: Icon }) => (
        <li key={path}>
          <Link to={path} activeOptions={{ exact: path === '/', includeSearch: false }} className="nav-link">
            {Icon === undefined ? null : <Icon size={16} aria-hidden />}
            {title}
          </Link>
        </li>
      ))}
    </ul>
  )
}
