import { definePlugin } from 'waypost'
import { greet } from './greet.ts'
import { weather } from './weather.ts'

export default definePlugin({
  name: 'my-plugin',
  requires: '^1.0.0',
  connections: { 'my-plugin-weather': weather },
  actions: { 'my-plugin-greet': greet },
})
