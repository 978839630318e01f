import { Fragment } from 'react'

/** Colours of states. The text says the same, because colour is never the only sign. */
export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'info'

/** A state in one word. */
export function State({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return <span className={`state state-${tone}`}>{children}</span>
}

/** A route: its method and its path, on one line. */
export function RouteName({ method, path }: { readonly method: string; readonly path: string }) {
  return (
    <span className="route">
      <MethodBadge method={method} />
      <span translate="no" className="mono route-path" dir="auto">
        {path}
      </span>
    </span>
  )
}

/** The method of a route; all have one width, so that paths are aligned. */
export function MethodBadge({ method }: { readonly method: string }) {
  return <span className={`method method-${method.toLowerCase()}`}>{method}</span>
}

/** The title of the page of a method. */
export function RouteTitle({ method, path }: { readonly method: string; readonly path: string }) {
  return (
    <span className="route-title">
      <MethodBadge method={method} />{' '}
      <span translate="no" className="mono">
        <Path path={path} />
      </span>
    </span>
  )
}

/** A path that breaks after slashes. */
export function Path({ path }: { readonly path: string }) {
  return path.split(/(?<=\/)/).map((step, index) => (
    <Fragment key={index}>
      {step}
      <wbr />
    </Fragment>
  ))
}
