import { Link, useMatches, useRouter, type AnyRoute } from '@tanstack/react-router'
import { useEffect } from 'react'
import { config } from '../config.ts'
import { makeStore, useStore } from '../session/store.ts'

const lastTitles = makeStore<readonly (string | undefined)[]>([])

/**
 * Replaces the last breadcrumb of a page whose parameter is an id, or of one that is not there.
 * @param above replaces the one before it, if that is also an id
 */
export function useCrumbTitle(title: string | undefined, above?: string): void {
  useEffect(() => {
    if (title === undefined) return undefined
    lastTitles.set([title, above])
    return () => lastTitles.set([])
  }, [title, above])
}

interface Crumb {
  readonly path: string
  readonly title: string
}

/** Where the page is: its group and the pages above it. Also sets the title of the window. */
export function Breadcrumbs() {
  const given = useStore(lastTitles)
  const crumbs = useCrumbs().map((crumb, index, all) => ({
    ...crumb,
    title: given[all.length - 1 - index] ?? crumb.title,
  }))
  const title = crumbs.toReversed().map((crumb) => crumb.title)
  useEffect(() => {
    document.title = [...title, config.service].join(' · ')
  }, [title.join()])
  return (
    <nav aria-label="Breadcrumb" className="crumbs">
      <ol>
        {crumbs.map(({ path, title: text }, index) => (
          <li key={path}>
            {index === crumbs.length - 1 ? (
              <span aria-current="page">
                <bdi translate="no">{text}</bdi>
              </span>
            ) : (
              <Link to={path}>
                <bdi translate="no">{text}</bdi>
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}

function useCrumbs(): readonly Crumb[] {
  const match = useMatches().at(-1)
  const pages = Object.values(useRouter().routesById as Readonly<Record<string, AnyRoute>>).flatMap(
    ({ options }) => options.staticData?.page ?? [],
  )
  const page = match?.staticData.page
  if (page === undefined || match === undefined) return [{ path: '/', title: 'Waypost' }]
  const parent = pages.find(({ path }) => path === page.parent)
  const parts = page.path.split('/').slice(1)
  const own = parts.flatMap((part, index) => {
    const path = `/${parts.slice(0, index + 1).join('/')}`
    const above = pages.find((one) => one.path === path)
    if (above === undefined) return []
    const values = match.params as Readonly<Record<string, string>>
    const title = part.startsWith('$') ? (values[part.slice(1)] ?? above.title) : above.title
    return [{ path: path.replaceAll(/\$(\w+)/g, (_name, name: string) => values[name] ?? ''), title }]
  })
  return parent === undefined ? own : [parent, ...own]
}
