import { ActionIcon, Drawer } from '@mantine/core'
import { useDisclosure, useHotkeys, useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useRouterState } from '@tanstack/react-router'
import { Menu as MenuIcon, Search } from 'lucide-react'
import { Suspense, useEffect, useRef } from 'react'
import { config } from '../config.ts'
import { draftQuery, useDraft } from '../edit/draft.ts'
import { ChangedFiles, DraftBanner } from '../edit/draft-bar.tsx'
import { strings } from '../strings.ts'
import { AccountMenu } from './account-menu.tsx'
import { Breadcrumbs } from './breadcrumbs.tsx'
import { Palette } from './palette.tsx'
import { Rail } from './rail.tsx'

/** The frame around every page: navigation on the left, a bar on top. */
export function Shell() {
  const [isNavOpen, nav] = useDisclosure(false)
  const [isPaletteOpen, palette] = useDisclosure(false)
  const isNarrow = useMediaQuery('(max-width: 767px)', undefined, { getInitialValueInEffect: false })
  const path = useRouterState({ select: (state) => state.location.pathname })
  const main = useRef<HTMLElement>(null)
  const isWaiting = useQuery(draftQuery).isLoading // to show editors at once
  useHotkeys([['mod+K', palette.toggle]], [])
  useEffect(() => nav.close(), [path])
  return (
    <div className="shell">
      <a className="skip" href="#content" onClick={(event) => focusContent(event, main.current)}>
        {strings.skip}
      </a>
      {isNarrow ? (
        <Drawer.Root opened={isNavOpen} onClose={nav.close} size={260}>
          <Drawer.Overlay backgroundOpacity={0.4} />
          <Drawer.Content aria-label={strings.nav.label}>
            <div className="drawer">
              <Drawer.CloseButton aria-label={strings.nav.close} />
              <Rail>
                <Brand />
              </Rail>
            </div>
          </Drawer.Content>
        </Drawer.Root>
      ) : (
        <div className="rail">
          <Rail>
            <Brand />
          </Rail>
        </div>
      )}
      <div className="column">
        <header className="bar">
          {isNarrow ? (
            <ActionIcon aria-label={strings.nav.open} aria-expanded={isNavOpen} onClick={nav.open}>
              <MenuIcon size={18} />
            </ActionIcon>
          ) : null}
          <Breadcrumbs />
          <div className="bar-end">
            <ChangedFiles />
            <button type="button" className="search" onClick={palette.open} aria-keyshortcuts="Control+K Meta+K">
              <Search size={14} aria-hidden />
              <span className="search-label">{strings.palette.open}</span>
              <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
            </button>
            <AccountMenu />
          </div>
        </header>
        {config.isReadOnly ? <p className="banner">{strings.mode.readOnly}</p> : null}
        <DraftBanner />
        <main id="content" data-scroll-restoration-id="content" tabIndex={-1} ref={main} className="content">
          <Suspense>{isWaiting ? null : <Outlet />}</Suspense>
        </main>
      </div>
      <Palette opened={isPaletteOpen} onClose={palette.close} />
    </div>
  )
}

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** A link to an anchor would change the address, which is that of the page. */
function focusContent(event: React.MouseEvent, content: HTMLElement | null): void {
  event.preventDefault()
  content?.focus()
}

function Brand() {
  const project = useDraft()?.name
  // A project without a title has the host as its name.
  const name = config.service === location.host ? (project ?? config.service) : config.service
  return (
    <span className="brand">
      <span className="brand-mark" aria-hidden>
        {name.trim().slice(0, 1).toUpperCase()}
      </span>
      <span className="brand-name" dir="auto">
        {name}
      </span>
      {config.isDevelopment ? <span className="brand-mode">dev</span> : null}
    </span>
  )
}
