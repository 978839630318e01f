import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider, type AnyRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { Problem } from '../api/send.ts'
import { Announcer } from '../components/announce.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { Provider } from './provider.tsx'

const maxRetries = 2

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (count, error) => count < maxRetries && (error instanceof TypeError || isUnavailable(error)),
    },
    mutations: { retry: false },
  },
})

function isUnavailable(error: Error): boolean {
  return error instanceof Problem && [502, 503, 504].includes(error.status)
}

/** @param makeRouter makes the router of all pages */
export function showApp(element: Element, makeRouter: () => AnyRouter): void {
  // Not before the address is that of the page: the router adds to its entry in the history what restores the scroll position.
  createRoot(element).render(<App router={makeRouter()} />)
}

function App({ router }: { readonly router: AnyRouter }) {
  useEffect(() => {
    // Only a keyboard needs it.
    const load = () => void import('./keep-focus.ts').then(({ keepFocus }) => keepFocus())
    document.addEventListener('keydown', load, { once: true, capture: true })
  }, [])
  return (
    <Provider>
      <ErrorBoundary>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
          <Announcer />
        </QueryClientProvider>
      </ErrorBoundary>
    </Provider>
  )
}
