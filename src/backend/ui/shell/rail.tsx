import type { ReactNode } from 'react'
import { config, hasDraft } from '../config.ts'
import { groups, pages, type PageEntry } from '../pages.ts'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { PageLinks } from './frame.tsx'
import { navTexts } from './nav-texts.ts'

/** The pages that the signed-in user may open. */
export function usePages(): readonly PageEntry[] {
  const scopes = useStore(sessionStore)?.scopes ?? []
  return pages.filter(
    ({ scopes: needed, path, isDevelopment }) =>
      needed.some((scope) => scopes.includes(scope)) &&
      !path.includes('$') &&
      (isDevelopment === undefined || (hasDraft && isDevelopment === config.isDevelopment)),
  )
}

/** The navigation: the overview, then the groups. */
export function Rail({ children }: { readonly children?: ReactNode }) {
  const visible = usePages()
  return (
    <nav aria-label={navTexts.label} className="nav">
      {children}
      <PageLinks entries={visible.filter(({ group }) => group === undefined)} />
      {groups.map((group) => {
        const entries = visible.filter((page) => page.group === group)
        if (entries.length === 0) return null
        return (
          <section key={group} aria-labelledby={`nav-${group}`}>
            <h2 id={`nav-${group}`}>{navTexts[group]}</h2>
            <PageLinks entries={entries} />
          </section>
        )
      })}
    </nav>
  )
}
