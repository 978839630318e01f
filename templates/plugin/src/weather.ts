import type { ConnectionClass } from 'waypost'

interface Config {
  readonly url: string
}

export interface Weather {
  /** Degrees Celsius. */
  temperature(place: string): Promise<number>
}

/** A service with `GET /PLACE` that returns `{ "temperature": 21.5 }`. */
export const weather: ConnectionClass<Config, Weather> = {
  description: 'A weather service',
  config: {
    type: 'object',
    required: ['url'],
    properties: { url: { type: 'string', format: 'uri', description: 'For example https://weather.example.com' } },
    additionalProperties: false,
  },
  clientType: '{ temperature(place: string): Promise<number> }',
  async open({ url }, { fetch }) {
    const get = async (path: string, limitMs: number) => {
      const response = await fetch(new URL(path, url), { signal: AbortSignal.timeout(limitMs) })
      if (!response.ok) throw new Error(`the weather service responded with ${response.status}`)
      return response
    }
    return {
      client: {
        async temperature(place) {
          const response = await get(encodeURIComponent(place), 10_000)
          return ((await response.json()) as { temperature: number }).temperature
        },
      },
      async check() {
        await (await get('/', 3000)).body?.cancel()
      },
      async close() {},
    }
  },
}
