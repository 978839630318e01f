import { useMediaQuery } from '@mantine/hooks'

/** Whether a window of usual size is enlarged so much that little of a page is seen at once, for example to 400 percent. */
export function useIsEnlarged(): boolean {
  return useMediaQuery('(max-height: 480px)', undefined, { getInitialValueInEffect: false })
}
