import { Navigate } from '@tanstack/react-router'
import { lazyPage } from '../components/lazy-part.tsx'
import { pages, type PageEntry } from '../pages.ts'
import { makePageRouter } from './page-router.tsx'
import { Shell } from './shell.tsx'
import { usePages } from './rail.tsx'
import { ScopeGate } from './scope-gate.tsx'

/** Makes the router of the backend. */
export function makeRouter() {
  return makePageRouter(Shell, pages, gate)
}

function gate(page: PageEntry) {
  const Page = lazyPage(page.load)
  // The router loads the page before it shows it. React shows what suspends at least 300 ms later.
  Gated.preload = Page.preload
  return Gated
  function Gated() {
    const visible = usePages()
    // Users without the overview do not work on the definition.
    const first = visible.find(({ group }) => group !== 'build') ?? visible[0]
    if (page.path === '/' && first !== undefined && first.path !== '/') return <Navigate to={first.path} replace />
    return (
      <ScopeGate scopes={page.scopes} hasPages={first !== undefined}>
        <Page />
      </ScopeGate>
    )
  }
}
