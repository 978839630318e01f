import { Component, lazy, useReducer, type ComponentType, type ReactNode } from 'react'
import { Dialog } from './dialog.tsx'
import { ProblemAlert } from './problem.tsx'
import { problemTexts } from './problem-texts.ts'

/**
 * A component whose code is loaded when it is first shown. If that fails, only its place says so and can try again: the
 * page around it keeps what was typed. A dialog says it in a dialog.
 * @param name what the module exports
 * @param reload loads it after a failure
 */
export function lazyPart<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
  reload: (failed: unknown) => Promise<Module> = (failed) => loadAgain(load, failed),
): Module[Name] {
  type Part = ComponentType<object>
  const begin = (failed?: unknown) =>
    lazy(() =>
      (failed === undefined ? load() : reload(failed)).then(
        (loaded) => ({ default: loaded[name] as Part }),
        (error: unknown) => {
          throw new PartError(error)
        },
      ),
    )
  let Current = begin()
  function LazyPart(props: object) {
    const [, retry] = useReducer((count: number) => count + 1, 0)
    const { onClose } = props as { readonly onClose?: () => void }
    const onRetry = (failed: unknown) => {
      Current = begin(failed)
      retry()
    }
    return (
      <PartBoundary onRetry={onRetry} onClose={onClose}>
        <Current {...props} />
      </PartBoundary>
    )
  }
  return LazyPart as Module[Name]
}

type PageModule = { readonly Page: ComponentType }

/**
 * A page whose code is loaded before it is shown. If that fails, the page says so. Trying again loads the window, once the
 * server can be reached. The router's own component loads it at once, which without a network leaves nothing of it.
 */
export function lazyPage(load: () => Promise<PageModule>): ComponentType & { preload(): Promise<void> } {
  let Loaded: ComponentType | undefined
  const Part = lazyPart(load, 'Page', reloadWindow)
  function LazyPage() {
    // What suspends is shown 300 ms later.
    return Loaded === undefined ? <Part /> : <Loaded />
  }
  const preload = async () => {
    Loaded ??= (await load().catch(() => undefined))?.Page
  }
  return Object.assign(LazyPage, { preload })
}

/** Browsers keep that the files of a page could not be loaded. @throws an error of the network */
async function reloadWindow(): Promise<never> {
  await fetch(location.href, { method: 'HEAD' })
  location.reload()
  return new Promise(() => undefined)
}

/** Browsers keep that an address could not be loaded, which some of them name. So it is loaded from another one. */
function loadAgain<Module>(load: () => Promise<Module>, failed: unknown): Promise<Module> {
  const [url] = /https?:\/\/[^\s?]+\.js/.exec(failed instanceof Error ? failed.message : '') ?? []
  return url === undefined ? load() : (import(/* @vite-ignore */ `${url}?${Date.now()}`) as Promise<Module>)
}

class PartError extends Error {
  override readonly name = 'PartError'
  constructor(cause: unknown) {
    super(problemTexts.part, { cause })
  }
}

interface BoundaryProps {
  readonly children: ReactNode
  readonly onClose: (() => void) | undefined
  onRetry(error: unknown): void
}

/** Other errors than that of loading go to the boundary of the page. */
class PartBoundary extends Component<BoundaryProps, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    const { children, onClose, onRetry } = this.props
    if (error === undefined) return children
    if (!(error instanceof PartError)) throw error
    const retry = () => {
      onRetry(error.cause)
      this.setState({ error: undefined })
    }
    const alert = <ProblemAlert error={error.cause} onRetry={retry} />
    if (onClose === undefined) return alert
    return (
      <Dialog title={problemTexts.part} onClose={onClose}>
        {alert}
      </Dialog>
    )
  }
}
