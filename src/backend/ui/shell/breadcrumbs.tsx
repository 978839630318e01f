import { Link, useMatches, useRouter, type AnyRoute } from '@tanstack/react-router'
import { useEffect } from 'react'
import { config } from '../config.ts'
import { makeStore, useStore } from '../session/store.ts'

interface LastTitles {
  /** The last first. */
  readonly titles: readonly (string | undefined)[]
  readonly areNames: boolean
}

const noTitles: LastTitles = { titles: [], areNames: false }
const lastTitles = makeStore(noTitles)

/**
 * Replaces the last breadcrumb of a page whose parameter is an id, or of one that is not there.
 * @param above replaces the one before it, if that is also an id
 */
export function useCrumbTitle(title: string | undefined, above?: string): void {
  useLastTitles(title, above, false)
}

/** Replaces the last breadcrumb of a page whose parameter is an id by a name, which browsers do not translate. */
export function useCrumbName(name: string | undefined): void {
  useLastTitles(name, undefined, true)
}

function useLastTitles(title: string | undefined, above: string | undefined, areNames: boolean): void {
  useEffect(() => {
    if (title === undefined) return undefined
    lastTitles.set({ titles: [title, above], areNames })
    return () => lastTitles.set(noTitles)
  }, [title, above, areNames])
}

interface Crumb {
  readonly path: string
  readonly title: string
  readonly isName: boolean
}

/** Where the page is: its group and the pages above it. Also sets the title of the window. */
export function Breadcrumbs() {
  const { titles: given, areNames } = useStore(lastTitles)
  const crumbs = useCrumbs().map((crumb, index, all) => {
    const own = given[all.length - 1 - index]
    return own === undefined ? crumb : { ...crumb, title: own, isName: areNames }
  })
  const title = crumbs.toReversed().map((crumb) => crumb.title)
  useEffect(() => {
    document.title = [...title, config.service].join(' · ')
  }, [title.join()])
  return (
    <nav aria-label="Breadcrumb" className="crumbs">
      <ol>
        {crumbs.map(({ path, title: text, isName }, index) => {
          const label = <bdi translate={isName ? 'no' : undefined}>{text}</bdi>
          return (
            <li key={path}>
              {index === crumbs.length - 1 ? <span aria-current="page">{label}</span> : <Link to={path}>{label}</Link>}
            </li>
          )
        })}
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
  if (page === undefined || match === undefined) return [{ path: '/', title: 'Waypost', isName: true }]
  const parent = pages.find(({ path }) => path === page.parent)
  const parts = page.path.split('/').slice(1)
  const own = parts.flatMap((part, index) => {
    const path = `/${parts.slice(0, index + 1).join('/')}`
    const above = pages.find((one) => one.path === path)
    if (above === undefined) return []
    const values = match.params as Readonly<Record<string, string>>
    const value = part.startsWith('$') ? values[part.slice(1)] : undefined
    return [
      {
        path: path.replaceAll(/\$(\w+)/g, (_name, name: string) => values[name] ?? ''),
        title: value ?? above.title,
        isName: value !== undefined,
      },
    ]
  })
  return parent === undefined ? own : [{ path: parent.path, title: parent.title, isName: false }, ...own]
}
