import { createRootRoute, createRoute, createRouter, type RouteComponent } from '@tanstack/react-router'
import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { ProblemState } from '../components/problem.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { uiPath } from '../config.ts'
import { useCrumbTitle } from './breadcrumbs.tsx'
import { tableTexts } from '../components/data-table-texts.ts'
import { problemTexts } from '../components/problem-texts.ts'

/** One page of the backend or of the portal. */
export interface PageBase {
  /** Below the path of the pages; parameters begin with `$`. */
  readonly path: string
  /** In the navigation and the breadcrumbs. A page of one thing has the name of the thing. */
  readonly title: string
  /** The path of the page before it in the breadcrumbs, if its own path does not begin with it. */
  readonly parent?: string
  load(): Promise<{ readonly Page: () => ReactNode }>
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    readonly page?: PageBase
  }
}

/**
 * Makes the router of all pages. Search parameters are plain text, for links that people can read and write.
 * @param gate loads a page, and shows it or why the user may not see it
 */
export function makePageRouter<Page extends PageBase>(
  Shell: () => ReactNode,
  pages: readonly Page[],
  gate: (page: Page) => RouteComponent,
) {
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

function Loading() {
  return (
    <div aria-busy="true" aria-label={tableTexts.loading}>
      <Skeleton height={28} width={200} mb={24} />
      <Skeleton height={16} mb={12} />
      <Skeleton height={16} mb={12} width="80%" />
      <Skeleton height={16} width="60%" />
    </div>
  )
}

function NotFound() {
  useCrumbTitle(problemTexts.notFound)
  return (
    <EmptyState
      isPage
      title={problemTexts.notFound}
      text={problemTexts.notFoundText}
      link={{ to: '/', label: problemTexts.home }}
    />
  )
}
