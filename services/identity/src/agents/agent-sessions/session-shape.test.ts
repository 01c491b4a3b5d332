import { describe, expect, it } from 'vitest';
import { servicesFault } from './session-shape.ts';

describe('what an agent session asks for', () => {
  it('is refused in the words of the door when it names nothing, and when it names everything', () => {
    expect(servicesFault([])).toBe('min_items');
    expect(servicesFault([{ service_name: 'github', fields: ['*'] }])).toBe('concrete');
    expect(servicesFault([{ service_name: 'github', fields: ['token'] }])).toBeUndefined();
  });
});
