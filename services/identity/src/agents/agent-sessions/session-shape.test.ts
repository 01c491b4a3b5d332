import { describe, expect, it } from 'vitest';
import { servicesFault } from './session-shape.ts';

describe('what an agent session asks for', () => {
  it('may be nothing, and is refused when it names all fields of a service', () => {
    expect(servicesFault([])).toBeUndefined();
    expect(servicesFault([{ service_name: 'github', fields: ['*'] }])).toBe('concrete');
    expect(servicesFault([{ service_name: 'github', fields: ['token'] }])).toBeUndefined();
  });
});
