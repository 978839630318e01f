import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Navigate } from '@tanstack/react-router'
import { Skeleton } from '@mantine/core'
import { uiPath } from '../config.ts'
import { pages, type PageEntry } from '../pages.ts'
import { ProblemState } from '../components/problem.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { strings } from '../strings.ts'
import { Shell } from './shell.tsx'
import { usePages } from './rail.tsx'
import { ScopeGate } from './scope-gate.tsx'

/** Makes the router of all pages. Search parameters are plain text, for links that people can read and write. */
export function makeRouter() {
  const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })
  const routes = pages.map((page) =>
    createRoute({
      getParentRoute: () => root,
      path: page.path,
      component: gate(page),
      validateSearch: (search: Record<string, unknown>): Record<string, string | undefined> =>
        Object.fromEntries(
          Object.entries(search)
            .filter(([, value]) => value !== undefined)
            .map(([name, value]) => [name, String(value)]),
        ),
      staticData: { page },
    }),
  )
  return createRouter({
    routeTree: root.addChildren(routes),
    basepath: uiPath,
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    defaultErrorComponent: ({ error }) => <ProblemState error={error} />,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
    scrollToTopSelectors: ['#content'],
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch(search) {
      const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
      const text = new URLSearchParams(given as [string, string][]).toString()
      return text === '' ? '' : `?${text}`
    },
  })
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    readonly page?: PageEntry
  }
}

function gate(page: PageEntry) {
  const Page = lazyRouteComponent(page.load, 'Page')
  // The router loads the page before it shows it. React shows what suspends at least 300 ms later.
  Gated.preload = async () => Page.preload?.()
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

function Loading() {
  return (
    <div aria-busy="true" aria-label={strings.table.loading}>
      <Skeleton height={28} width={200} mb={24} />
      <Skeleton height={16} mb={12} />
      <Skeleton height={16} mb={12} width="80%" />
      <Skeleton height={16} width="60%" />
    </div>
  )
}

function NotFound() {
  return (
    <EmptyState
      isPage
      title={strings.problem.notFound}
      text={strings.problem.notFoundText}
      link={{ to: '/', label: strings.problem.home }}
    />
  )
}
